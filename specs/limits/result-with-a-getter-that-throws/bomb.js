return { get a() { throw new Error('from the getter'); } };
