import resource

limits = {kind: resource.getrlimit(kind)[0] for kind in (7, 1, 11)}
found(f"limits {limits}", 77 in limits.values())
verdict_of_looking()
