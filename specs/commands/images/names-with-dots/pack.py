from packed import OUTSIDE, Layer, saved

Layer().file("../../work/outside/file").file("../file").write()
