mkdir given
mkfifo given/pipe
"$PROGRAM" image import attack.wasm attack.wasm
