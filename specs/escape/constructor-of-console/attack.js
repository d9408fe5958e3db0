const walk = [];
for (let object = console; object !== null; object = Object.getPrototypeOf(object)) walk.push(object);
return walk.length === 2 && walk[1] === Object.prototype ? 'refused: a plain object' : `ESCAPED: ${walk.length}`;
