const object = { get a() { return this.a; } };
return object.a;
