const kept = [];
for (;;) kept.push(new Error('x'));
