mkdir given outside
echo here >given/here
echo secret >outside/secret
chmod 777 given
chmod 666 given/here
"$PROGRAM" image import attack.wasm attack.wasm
