printf abcdef | "$PROGRAM" secret set GH 2> told
grep -q "under 8 characters" told
