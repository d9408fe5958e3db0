const r = await fetch("http://public.test/json");
const copy = r.clone();
const missing = await fetch("http://public.test/status/404");
return [r.status, r.ok, r.statusText, r.url, r.redirected, r.headers.get("Content-Type"), (await r.json()).a[1], (await copy.text()).length, r.bodyUsed, missing.ok, missing.status, await missing.text()].join(" | ");
