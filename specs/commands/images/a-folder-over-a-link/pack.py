from packed import OUTSIDE, Layer, saved

Layer().shell().link("door", OUTSIDE).folder("door").file("door/file", "REFUSED\n").write()
