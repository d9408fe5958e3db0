const kept = [];
for (let i = 0; ; i++) kept.push(new RegExp(`(?:a{${i % 9}}b|c){200}(?:[a-z]{100})${i}`));
