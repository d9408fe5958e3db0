mkdir given outside
echo here >given/here
echo secret >outside/secret
ln -s "$PWD/outside/secret" given/whole
ln -s ../outside/secret given/relative
ln -s ../outside given/folder
ln -s relative given/twice
ln -s / given/root
ln -s /proc/self/environ given/proc
"$PROGRAM" image import attack.wasm attack.wasm
