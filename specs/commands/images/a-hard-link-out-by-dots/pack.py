from packed import OUTSIDE, Layer, saved

Layer().hard_link("same", "../../work/outside/file").write()
