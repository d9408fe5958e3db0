for what, habit in (("addresses without chance", 0x0040000), ("readable is executable", 0x0400000),
                    ("page zero", 0x0100000), ("another system", 0x0006)):
    attempt(what, "EPERM", lambda: call("personality", habit) and None)
verdict()
