attempt("a websocket", "sealed-place", lambda: inside("public.test:443", "public.test", "public.test", "/socket",
                                                      "Upgrade: websocket\r\nConnection: upgrade\r\n"))
verdict()
