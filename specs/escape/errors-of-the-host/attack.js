const ways = [
  () => structuredClone(() => {}),
  () => structuredClone(),
  () => structuredClone(1, { transfer: 1 }),
  () => queueMicrotask('text'),
  () => console.log('%d', Symbol.iterator, { [Symbol.toPrimitive]: 1 }) ?? console.log('%i', Object.create(null)) ?? null.x,
  () => {
    const again = () => structuredClone({ get a() { return again(); } });
    again();
  },
];
const seen = ways.map((way) => {
  try {
    way();
    return 'nothing thrown';
  } catch (error) {
    try {
      return 'ESCAPED: ' + error.constructor.constructor('return 1')();
    } catch (refusal) {
      return error instanceof Error ? refusal.message : 'ESCAPED: a foreign realm';
    }
  }
});
return `refused: ${[...new Set(seen)]}`;
