/*---
description: a name that is not declared becomes a global where that is allowed
flags: [noStrict]
---*/
undeclared = 1;
assert.sameValue(globalThis.undeclared, 1, 'undeclared');
