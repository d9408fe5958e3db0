const kept = [];
const text = 'ab'.repeat(5000);
for (;;) kept.push(text.match(/(a)(b)/g));
