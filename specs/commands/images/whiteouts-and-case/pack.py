from packed import OUTSIDE, Layer, saved

saved(Layer().shell().file("a", "small\n").file("A", "large\n"), Layer().file(".WH.A").file(".wh.nothing"))
