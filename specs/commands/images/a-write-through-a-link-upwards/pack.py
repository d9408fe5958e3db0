from packed import OUTSIDE, Layer, saved

Layer().link("up", "..").link("up/door", "..").file("up/file").write()
