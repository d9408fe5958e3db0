}});
console.log('ESCAPED');
({ async ""() {
