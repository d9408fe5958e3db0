const smallest = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
try {
  return 'ESCAPED: ' + typeof new WebAssembly.Instance(new WebAssembly.Module(smallest)).exports;
} catch (error) {
  return `refused: ${error.message}`;
}
