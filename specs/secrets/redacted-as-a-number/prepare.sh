printf 123456789012 | "$PROGRAM" secret set GH
