from packed import OUTSIDE, Layer, saved

saved(Layer().file("a"), diff_ids=["sha256:" + "0" * 64])
