}}); console.log('ESCAPED'); ({ async ""() { /*
*/
