/*---
description: asks for what is deliberately not here
features: [SharedArrayBuffer]
---*/
new SharedArrayBuffer(1);
