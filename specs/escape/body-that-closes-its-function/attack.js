});
console.log('ESCAPED');
(async function () {
