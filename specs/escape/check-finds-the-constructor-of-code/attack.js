const made = (() => {}).constructor('return 1');
console.log('ESCAPED');
return made();
