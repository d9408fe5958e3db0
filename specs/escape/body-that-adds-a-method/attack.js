return 'ran';
}, get [console.log('ESCAPED')]() {
