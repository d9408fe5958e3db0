printf %s ghp_16C7e42F292c6912E7 | "$PROGRAM" secret set GH
printf another-value-of-30-characters | "$PROGRAM" secret rotate GH
