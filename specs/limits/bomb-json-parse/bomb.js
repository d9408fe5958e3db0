const text = JSON.stringify(Array(2000).fill({ a: [1, 2, 3] }));
const kept = [];
for (;;) kept.push(JSON.parse(text));
