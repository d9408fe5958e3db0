let ran = false;
console.log({
  get trap() {
    ran = true;
    return 'ESCAPED';
  },
});
return ran ? 'ESCAPED' : 'refused: it did not run';
