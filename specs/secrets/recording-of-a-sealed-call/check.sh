! grep -q ghp_16C7e42F292c6912E7 rec.json
grep -q "Bearer \${GH}" rec.json
