from packed import OUTSIDE, Layer, saved

saved(Layer().link("door", OUTSIDE), Layer().file("door/.wh..wh..opq"))
