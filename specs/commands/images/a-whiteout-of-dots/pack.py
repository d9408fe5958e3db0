from packed import OUTSIDE, Layer, saved

saved(Layer().file("a"), Layer().file(".wh..."))
