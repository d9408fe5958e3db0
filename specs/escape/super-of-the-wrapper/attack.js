return `ESCAPED: ${typeof super.constructor}`;
