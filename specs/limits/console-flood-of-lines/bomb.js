for (let i = 0; i < 5000; i++) console.log(`line ${i}`);
return 'done';
