from packed import OUTSIDE, Layer, saved

Layer().link("door", OUTSIDE).file("door/file").write()
