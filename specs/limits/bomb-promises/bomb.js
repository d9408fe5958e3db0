const kept = [];
for (;;) kept.push(new Promise(() => {}).then(() => {}));
