from packed import OUTSIDE, Layer, saved

Layer().shell().link("proc", OUTSIDE).write()
