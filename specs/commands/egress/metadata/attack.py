for place in ["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:169.254.169.254]",
              "[fd00:ec2::254]", "metadata.google.internal", "METADATA.google.internal.", "metadata.test"]:
    attempt(place, "metadata-address|bad-request", lambda: get(f"http://{place}/latest/meta-data/", host=place))
attempt("over SOCKS", "not-allowed", lambda: socks_word("169.254.169.254", 80))
attempt("by name over SOCKS", "not-allowed", lambda: socks_word("metadata.test", 80))
attempt("by itself", "ENETUNREACH", lambda: dial("169.254.169.254", 80))
attempt("as a name", "no-such-name", lambda: resolve("metadata.google.internal"))
verdict()
