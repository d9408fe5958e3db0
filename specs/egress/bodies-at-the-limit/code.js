const size = async (path, init) => { try { return (await (await fetch("http://public.test" + path, init)).bytes()).length; } catch (error) { return error.reason; } };
return [await size("/size/5000"), await size("/size/5001"), await size("/size/5000", {offset: 10, maxBytes: 7})];
