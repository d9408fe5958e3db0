"$PROGRAM" image import attack.wasm attack.wasm
