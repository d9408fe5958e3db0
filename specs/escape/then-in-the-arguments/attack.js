const given = await a;
return ({}).call ?? Reflect.getPrototypeOf(given.then).call ?? 'refused: data';
