return 'ab'.repeat(2e6).split('').length;
