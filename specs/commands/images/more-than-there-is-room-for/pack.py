from packed import OUTSIDE, Layer, saved

Layer().file("large", "x" * (2 << 20)).write(packing="gz")
