console.log('x'.repeat(1e6));
return 'done';
