console.log('a\u0000b \ud800 c');
return 'done';
