const object = { toString() { return `${this}`; } };
return `${object}`;
