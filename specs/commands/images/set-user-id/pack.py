from packed import OUTSIDE, Layer, saved

Layer().shell().file("user", mode=0o4755).file("group", mode=0o2755).write()
