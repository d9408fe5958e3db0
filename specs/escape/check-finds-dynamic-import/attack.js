const os = await import('os');
console.log('ESCAPED');
