from packed import OUTSIDE, Layer, saved

Layer().file("zeros", "\0" * (100 << 20)).write(packing="gz")
