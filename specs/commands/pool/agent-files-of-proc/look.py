with open("/proc/1/comm") as file:
    found("a name", file.read().strip() == "of-a-spec")
with open("/proc/self/oom_score_adj") as file:
    found("a score", file.read().strip() == "77")
verdict_of_looking()
