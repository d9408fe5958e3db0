const r = await fetch("http://10.0.0.5/"); return (await r.text()).length;
