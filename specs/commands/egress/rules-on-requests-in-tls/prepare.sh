printf '\n[sandbox]\nauthority = true\n' >> "$HOME/.config/bailiwick/bailiwick.toml"
printf '\nrequests = [{host = "public.test", methods = ["GET"], paths = ["/json", "/open/**"]}]\n' >> "$HOME/.config/bailiwick/bailiwick.toml"
