printf %s hunter2secretvalue | "$PROGRAM" secret set GH
