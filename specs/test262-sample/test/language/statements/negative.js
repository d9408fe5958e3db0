/*---
description: a declaration may not be repeated
negative:
  phase: parse
  type: SyntaxError
---*/
let twice;
let twice;
