/*---
description: a promise settles
flags: [async]
---*/
Promise.resolve(1).then((value) => assert.sameValue(value, 1, 'value')).then($DONE, $DONE);
