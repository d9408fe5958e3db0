from packed import OUTSIDE, Layer, saved

Layer().shell().file("note", "REFUSED\n").write()
