from packed import OUTSIDE, Layer, saved

Layer().folder("a/b").file("a/b/../../../file").write()
