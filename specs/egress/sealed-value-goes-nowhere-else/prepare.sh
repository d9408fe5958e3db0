printf %s ghp_16C7e42F292c6912E7 | "$PROGRAM" secret set GH
