from packed import OUTSIDE, Layer, saved

Layer().shell().link("door", f"{OUTSIDE}/file").hard_link("same", "door").file("same", "REFUSED\n").write()
