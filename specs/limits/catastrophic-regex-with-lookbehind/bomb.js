return /(?<=^(a|aa)+)b/.exec('x' + 'a'.repeat(90) + 'b');
