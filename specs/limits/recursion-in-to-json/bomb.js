return { toJSON() { return JSON.stringify(this); } };
