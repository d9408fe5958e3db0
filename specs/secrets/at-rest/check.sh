D=$HOME/.local/share/bailiwick
! grep -r ghp_16C7e42F292c6912E7 "$D"
! grep -r "$(printf %s ghp_16C7e42F292c6912E7 | base64)" "$D"
test "$(stat -c %a "$D/secrets.key")" = 600
test "$(stat -c %a "$D")" = 700
