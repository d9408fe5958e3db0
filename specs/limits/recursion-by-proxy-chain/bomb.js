let proxy = {};
for (let i = 0; i < 50000; i++) proxy = new Proxy(proxy, {});
return proxy.a;
