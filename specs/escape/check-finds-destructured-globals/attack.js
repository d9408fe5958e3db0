const { process: machine } = globalThis;
console.log(machine ? 'ESCAPED' : 'ran');
