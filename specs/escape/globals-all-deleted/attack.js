const say = console.log;
for (const key of Reflect.ownKeys(globalThis)) {
  try {
    delete globalThis[key];
  } catch {}
}
say('a line', { a: [1] });
return { list: ['refused'] };
