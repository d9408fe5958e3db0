mkdir given outside
echo here >given/here
echo secret >outside/secret
mkdir given/deep
"$PROGRAM" image import attack.wasm attack.wasm
