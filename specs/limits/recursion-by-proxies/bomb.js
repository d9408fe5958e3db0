const proxy = new Proxy({}, { get: (target, key, self) => self[key] });
return proxy.a;
