test "$(cat folder/one)" = changed
test "$(cat folder/two)" = two
test "$(cat folder/sub/deep)" = deep
test -d folder/sub/more
test "$(cat outside/file)" = untouched
/usr/bin/python3 -I - <<'MARKS'
import os
import sys
for path in ["folder/sub", "folder/sub/deep", "folder/one"]:
    if os.listxattr(path):
        sys.exit(f"ESCAPED: {path} has {os.listxattr(path)}")
MARKS
