test "$(cat outside/secret)" = secret
test "$(ls outside)" = secret
