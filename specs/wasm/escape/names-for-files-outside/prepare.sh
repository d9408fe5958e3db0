mkdir given outside
echo here >given/here
echo secret >outside/secret
ln -s ../outside/secret given/relative
"$PROGRAM" image import attack.wasm attack.wasm
