# What the cases of `specs/commands/images` pack their images with. It lies in the home of every case, beside a `pack.py` that
# says what is in the image. Everything that an image reaches for is in the case's own folder, so that it is harmless where
# nothing stops it.
import hashlib
import io
import json
import os
import platform
import subprocess
import tarfile

# A folder of the host's that no image has any business with; `prepare.sh` made it.
OUTSIDE = os.path.abspath("outside")


class Layer:
    """An archive in the making, which takes any name as it is."""

    def __init__(self):
        self.members = []

    def add(self, name, kind=tarfile.REGTYPE, data=b"", target="", mode=0o644, device=(0, 0), pax=None):
        member = tarfile.TarInfo(name)
        member.type, member.linkname, member.mode = kind, target, mode
        member.devmajor, member.devminor = device
        member.size, member.mtime, member.pax_headers = len(data), 1_000_000_000, pax or {}
        self.members.append((member, data))
        return self

    def file(self, name, text="of the image\n", mode=0o644, pax=None):
        return self.add(name, data=text.encode(), mode=mode, pax=pax)

    def folder(self, name):
        return self.add(name, tarfile.DIRTYPE, mode=0o755)

    def link(self, name, target):
        return self.add(name, tarfile.SYMTYPE, target=target, mode=0o777)

    def hard_link(self, name, target):
        return self.add(name, tarfile.LNKTYPE, target=target)

    def shell(self):
        """With a shell, `cat`, and what they are loaded with."""
        wanted = {"/bin/sh", "/bin/cat"}
        for program in list(wanted):
            told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
            wanted.update(word for word in told.split() if word.startswith("/"))
        for path in sorted(wanted):
            with open(path, "rb") as file:
                self.add(path.lstrip("/"), data=file.read(), mode=0o755)
        return self

    def packed(self, packing=""):
        bytes_ = io.BytesIO()
        with tarfile.open(fileobj=bytes_, mode=f"w:{packing}", format=tarfile.PAX_FORMAT) as archive:
            for member, data in self.members:
                archive.addfile(member, io.BytesIO(data))
        return bytes_.getvalue()

    def write(self, path="evil.tar", packing=""):
        with open(path, "wb") as file:
            file.write(self.packed(packing))


def saved(*layers, diff_ids=None, names=None, more=None):
    """Writes layers as `docker save` does; `more` puts further entries into the archive, ahead of the rest."""
    plain = [layer.packed() for layer in layers]
    sums = diff_ids or ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in plain]
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    config = {"os": "linux", "architecture": machine, "config": {}, "rootfs": {"type": "layers", "diff_ids": sums}}
    config = json.dumps(config)
    own = [f"{number}/layer.tar" for number in range(len(plain))]
    name = hashlib.sha256(config.encode()).hexdigest() + ".json"
    archive = more or Layer()
    for path, layer in zip(own, plain):
        if names is None or path in names:
            archive.add(path, data=layer)
    archive.file(name, config)
    archive.file("manifest.json", json.dumps([{"Config": name, "RepoTags": ["evil:1"], "Layers": names or own}]))
    # The first name in it says what it is.
    archive.members.insert(0, archive.members.pop())
    archive.write()
