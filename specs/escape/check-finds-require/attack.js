const before = 1;
const { execSync } = require('child_process');
console.log('ESCAPED');
