test "$(ls given)" = here
test "$(cat given/here)" = here
test "$(date -r given/here +%Y)" -gt 2000
