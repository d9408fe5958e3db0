const kept = [];
for (let i = 0; ; i++) kept.push(() => i);
