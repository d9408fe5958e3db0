const a = await (await fetch("https://api.test/v1?q=1")).json();
await fetch("https://other.test:8443/x", {method: "POST", body: "x"});
return safety.fs.readText("data/in.txt").length + a.n;
