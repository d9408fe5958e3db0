const doors = `process require module exports Buffer global Deno Bun std os bjson print scriptArgs gc performance navigator
WebAssembly SharedArrayBuffer Atomics MessageChannel BroadcastChannel Worker setImmediate importScripts XMLHttpRequest
WebSocket EventSource InternalError DOMException __filename __dirname load read readline java Packages`.split(/\s+/);
const open = doors.filter((name) => typeof globalThis[name] !== 'undefined');
return open.length === 0 ? `refused: ${doors.length} doors` : `ESCAPED: ${open}`;
