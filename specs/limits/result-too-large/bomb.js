return 'x'.repeat(20000);
