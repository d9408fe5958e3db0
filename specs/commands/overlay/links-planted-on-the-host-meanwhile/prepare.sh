mkdir -p folder/sub outside
echo one > folder/one
echo two > folder/two
echo deep > folder/sub/deep
echo untouched > outside/file
chmod 755 folder folder/sub
touch -d "2020-01-02 03:04:05" folder/one folder/two folder/sub/deep folder/sub folder outside/file outside
plant() {
    rm -r folder/one folder/sub
    ln -s ../outside/file folder/one
    ln -s ../outside folder/sub
}
case $PROGRAM in */hollow/*) plant ;; esac
case $PROGRAM in
*/hollow/*)
    "$PROGRAM" exec --overlay "$PWD/folder:/srv/folder" --mount "$PWD/attack.sh:/srv/attack.sh" -- /bin/sh -e /srv/attack.sh
    exit 0
    ;;
esac
"$PROGRAM" own > owner.log 2>&1 &
echo $! > owner.pid
while ! grep -q "owns " owner.log; do
    kill -0 "$(cat owner.pid)"
    sleep 0.1
done
"$PROGRAM" -q sandbox create --name job --overlay "$PWD/folder:/srv/folder" --mount "$PWD/attack.sh:/srv/attack.sh"
"$PROGRAM" sandbox exec job -- /bin/sh -e /srv/attack.sh
plant
