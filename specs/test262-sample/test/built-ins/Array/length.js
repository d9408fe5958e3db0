/*---
description: the length of an array is what was put into it
---*/
assert.sameValue([1, 2, 3].length, 3, 'length');
