cd /srv/folder
exec /usr/bin/python3 -I - <<'MARKS'
import os
open("one", "w").write("changed\n")
os.mkdir("sub/more")
for path in ["sub", "sub/deep", "one"]:
    for name in ["user.overlay.redirect", "user.overlay.opaque", "user.overlay.metacopy", "user.overlay.whiteout",
                 "user.overlay.overlay.opaque", "trusted.overlay.redirect", "trusted.overlay.opaque"]:
        try:
            os.setxattr(path, name, b"/outside" if "redirect" in name else b"y")
        except OSError as error:
            print(f"refused {name}")
found = sorted(os.listdir("sub"))
print("SAME" if found == ["deep", "more"] else f"ESCAPED {found}")
MARKS
