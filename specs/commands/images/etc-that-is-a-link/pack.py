from packed import OUTSIDE, Layer, saved

Layer().shell().link("etc", OUTSIDE).write()
