printf short | "$PROGRAM" secret set GH
