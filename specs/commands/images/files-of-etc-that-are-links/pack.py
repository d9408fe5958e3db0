from packed import OUTSIDE, Layer, saved

Layer().shell().link("etc/resolv.conf", f"{OUTSIDE}/file").link("etc/hosts", f"{OUTSIDE}/hosts").link("etc/hostname", f"{OUTSIDE}/name").write()
