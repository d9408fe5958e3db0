from packed import OUTSIDE, Layer, saved

Layer().file("x" * 300).write()
