case "$PROGRAM" in */hollow/*) exit 0 ;; esac
printf '\n[sandbox]\nauthority = true\n' >> "$HOME/.config/bailiwick/bailiwick.toml"
printf %s ghp_16C7e42F292c6912E7 | "$PROGRAM" secret set GH
