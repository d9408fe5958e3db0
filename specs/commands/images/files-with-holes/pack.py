from packed import OUTSIDE, Layer, saved

hole = {"GNU.sparse.size": str(1 << 40), "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,0"}
Layer().file("huge", "", pax=hole).write()
