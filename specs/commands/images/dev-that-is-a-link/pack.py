from packed import OUTSIDE, Layer, saved

Layer().shell().link("dev", OUTSIDE).write()
