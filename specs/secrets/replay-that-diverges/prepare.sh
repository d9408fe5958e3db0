printf %s ghp_16C7e42F292c6912E7 | "$PROGRAM" secret set GH
"$PROGRAM" run tool.yaml --http http.yaml --record rec.json > /dev/null 2>&1
if grep -q ghp_16C7e42F292c6912E7 rec.json; then exit 1; fi
