from packed import OUTSIDE, Layer, saved

Layer().shell().link("name", f"{OUTSIDE}/file").file("name", "REFUSED\n").write()
