return [safety.fs.delete, safety.fs["delete" + "Dir"], safety.fs.__proto__?.delete].every((f) => f === undefined);
