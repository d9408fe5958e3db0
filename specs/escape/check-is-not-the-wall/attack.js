const letters = [112, 114, 111, 99, 101, 115, 115];
const found = globalThis[String.fromCharCode(...letters)];
return found ? 'ESCAPED' : 'refused: absent';
