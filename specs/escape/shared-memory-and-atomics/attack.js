const ways = [
  () => new SharedArrayBuffer(8),
  () => Atomics.add(new Int32Array(1), 0, 1),
  () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer,
  () => structuredClone(new ArrayBuffer(8)).constructor.isView.call(null, 1) || globalThis.SharedArrayBuffer.name,
];
const seen = ways.map((way) => {
  try {
    return `ESCAPED: ${way()}`;
  } catch (error) {
    return error.name;
  }
});
return `refused: ${seen.join(' ')}`;
