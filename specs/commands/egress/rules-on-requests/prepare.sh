printf '\n[sandbox]\nrequests = [{host = "public.test", methods = ["GET"], paths = ["/json", "/open/**"]}]\n' >> "$HOME/.config/bailiwick/bailiwick.toml"
