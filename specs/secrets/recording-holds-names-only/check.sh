if grep -q ghp_16C7e42F292c6912E7 rec.json; then exit 1; fi
grep -q "Bearer \${GH}" rec.json
