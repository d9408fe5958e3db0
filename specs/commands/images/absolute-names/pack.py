from packed import OUTSIDE, Layer, saved

Layer().shell().file("note", "REFUSED\n").file(f"{OUTSIDE}/file").file(f"//{OUTSIDE}/second").write()
