for (;;) console.log('x');
