throw new Error('\u001b[2J\u001b[32mall is well\u009b0m');
