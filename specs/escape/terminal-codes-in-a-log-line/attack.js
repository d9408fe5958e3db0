console.log('\u001b]0;a title\u0007\u001b[1A\u001b[2Kall is well');
return 'refused';
