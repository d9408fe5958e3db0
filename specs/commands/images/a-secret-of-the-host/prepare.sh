echo "ESCAPED: of the host" > secret
PYTHONPATH="$HOME" python3 -B -c 'from packed import Layer; Layer().shell().write("shell.tar")'
mkdir root
tar -C root -xf shell.tar
ln -s "$PWD/secret" root/secret
"$PROGRAM" -q image import root evil:1
