return await (await fetch("http://proxied.test/")).text();
