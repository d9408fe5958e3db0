let proxy = {};
for (;;) proxy = new Proxy(proxy, {});
