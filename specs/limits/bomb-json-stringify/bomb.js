const item = 'x'.repeat(1000);
return JSON.stringify(Array(1e5).fill(item)).length;
