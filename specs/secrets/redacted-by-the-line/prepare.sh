printf "line-one-aaaa\nline-two-bbbb" | "$PROGRAM" secret set GH
