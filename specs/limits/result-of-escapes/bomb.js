return '\u0001'.repeat(300000);
