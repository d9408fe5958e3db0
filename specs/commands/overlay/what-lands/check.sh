test "$(cat folder/one)" = changed
test ! -e folder/two
test "$(cat folder/new/deeper/added)" = added
test "$(readlink folder/inner)" = one
test "$(stat -c %a folder/sub/deep)" = 700
test "$(cat outside/file)" = untouched
if [ -e folder/pipe ] || [ -n "$(find folder -perm /7000)" ]; then
    echo "ESCAPED: $(find folder -perm /7000 -o -type p)"
    exit 1
fi
