from packed import OUTSIDE, Layer, saved

Layer().file("d/" * 120 + "file").write()
