for address in ["169.254.169.254", "169.254.1.1", "[fe80::1]", "[fd00:ec2::254]"]:
    attempt(address, "metadata-address|private-address|unusable-address", lambda: get(f"http://{address}/"))
    attempt(f"{address} in a tunnel", "metadata-address|private-address|unusable-address",
            lambda: connect(f"{address}:443"))
    bare = address.strip("[]")
    attempt(f"{address} over SOCKS", "not-allowed", lambda: socks_word(bare, 80))
    attempt(f"{address} by itself", "ENETUNREACH|EADDRNOTAVAIL|EINVAL", lambda: dial(bare, 80))
verdict()
