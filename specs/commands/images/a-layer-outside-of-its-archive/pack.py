from packed import OUTSIDE, Layer, saved

import os

Layer().file("inside").write("other.tar")
saved(Layer().file("a"), names=[os.path.abspath("other.tar")])
