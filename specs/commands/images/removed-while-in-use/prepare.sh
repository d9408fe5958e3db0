mkdir outside
echo untouched > outside/file
find outside -printf '%p %y %n %s %l\n' | sort > before
PYTHONPATH="$HOME" python3 -B pack.py
"$PROGRAM" -q image import evil.tar evil:1
case $PROGRAM in
*/hollow/*)
    "$PROGRAM" image rm evil:1
    "$PROGRAM" exec --image evil:1 -- /bin/cat /note
    exit 0
    ;;
esac
"$PROGRAM" own > owner.log 2>&1 &
echo $! > owner.pid
while ! grep -q "owns " owner.log; do
    kill -0 "$(cat owner.pid)"
    sleep 0.1
done
"$PROGRAM" -q sandbox create --name job --image evil:1
"$PROGRAM" -q image rm evil:1
if "$PROGRAM" image ls | grep evil; then exit 1; fi
