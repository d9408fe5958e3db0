console.log(Array(1e6).fill(7));
return 'done';
