from packed import OUTSIDE, Layer, saved

import tarfile

Layer().shell().add("null", tarfile.CHRTYPE, device=(1, 3)).add("disk", tarfile.BLKTYPE, device=(7, 0)).add(
    "memory", tarfile.CHRTYPE, device=(1, 1)
).write()
