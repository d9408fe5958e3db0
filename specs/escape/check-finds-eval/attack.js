console.log((0, eval)("'ESC' + 'APED'"));
