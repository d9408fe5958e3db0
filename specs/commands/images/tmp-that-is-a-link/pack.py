from packed import OUTSIDE, Layer, saved

Layer().shell().link("tmp", OUTSIDE).write()
