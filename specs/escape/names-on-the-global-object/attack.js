const known = `AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError
FinalizationRegistry Float16Array Float32Array Float64Array Infinity Int16Array Int32Array Int8Array Iterator JSON Map
Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TextDecoder
TextEncoder TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef
WeakSet atob btoa console crypto decodeURI decodeURIComponent encodeURI encodeURIComponent globalThis isFinite isNaN
parseFloat parseInt queueMicrotask safety structuredClone undefined`.split(/\s+/);
const strange = Reflect.ownKeys(globalThis).map(String).filter((name) => !known.includes(name) && !/^Symbol\(/.test(name));
return strange.length === 0 ? 'refused: nothing else is there' : `ESCAPED: ${strange}`;
