echo secret > "$HOME/secret"
echo "$HOME/secret" > secret-at
