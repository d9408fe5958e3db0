mkdir given outside
echo here >given/here
echo secret >outside/secret
"$PROGRAM" image import attack.wasm attack.wasm
