from packed import OUTSIDE, Layer, saved

Layer().shell().link(".old", OUTSIDE).write()
