printf %s 'ghp_16C7/42F+92c=912E7' | "$PROGRAM" secret set GH
