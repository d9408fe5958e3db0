}
console.log('ESCAPED');
{
