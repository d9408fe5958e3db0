const run = \u0065val;
console.log(run("'ESC' + 'APED'"));
