const execute = () => 1;
}}); console.log('ESCAPED'); ({ async ""() {
const execute = () => 2;
