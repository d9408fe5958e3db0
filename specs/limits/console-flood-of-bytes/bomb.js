for (let i = 0; i < 100; i++) console.log(`${i} ` + 'x'.repeat(10000));
return 'done';
