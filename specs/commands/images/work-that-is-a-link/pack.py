from packed import OUTSIDE, Layer, saved

Layer().shell().link("work", OUTSIDE).write()
