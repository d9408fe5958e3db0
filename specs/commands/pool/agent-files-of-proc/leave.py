for name, text in (("comm", "of-a-spec"), ("oom_score_adj", "77"), ("coredump_filter", "0"), ("timerslack_ns", "77"),
                   ("autogroup", "7"), ("loginuid", "77"), ("clear_refs", "1")):
    with leaving(name):
        with open(f"/proc/1/{name}", "w") as file:
            file.write(text)
verdict_of_leaving()
