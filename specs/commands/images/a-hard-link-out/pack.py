from packed import OUTSIDE, Layer, saved

Layer().hard_link("same", f"{OUTSIDE}/file").write()
