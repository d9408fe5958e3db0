//! Layers and layouts made by hand, sound and unsound, and a place to import them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bailiwick_image::{Digest, Image, ImageError, Options, Reference, Source, Store, Watcher};
use bailiwick_sandbox::Unpacked as _;
use serde_json::{Value, json};
use tar::{EntryType, Header};

/// What this machine is called.
pub(crate) const HERE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };

/// An archive in the making, which takes any name.
#[derive(Default, Clone)]
pub(crate) struct Layer(Vec<u8>);

impl Layer {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn folder(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name, "", 0o755, b"")
    }

    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.entry(EntryType::Regular, name, "", 0o644, content.as_bytes())
    }

    pub(crate) fn link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name, target, 0o777, b"")
    }

    pub(crate) fn hard_link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Link, name, target, 0o644, b"")
    }

    pub(crate) fn entry(self, kind: EntryType, name: &str, target: &str, mode: u32, content: &[u8]) -> Self {
        self.bytes(kind, name.as_bytes(), target.as_bytes(), mode, content)
    }

    /// Any bytes as a name; long ones by an entry of GNU's kind ahead.
    pub(crate) fn bytes(
        mut self,
        kind: EntryType,
        name: &[u8],
        target: &[u8],
        mode: u32,
        content: &[u8],
    ) -> Self {
        for (long, kind) in [(name, EntryType::GNULongName), (target, EntryType::GNULongLink)] {
            if long.len() > 100 {
                self = self.bytes(kind, b"././@LongLink", b"", 0o644, long);
            }
        }
        let mut header = Header::new_gnu();
        let old = header.as_old_mut();
        for (place, from) in [(&mut old.name, name), (&mut old.linkname, target)] {
            let length = from.len().min(100);
            place[..length].copy_from_slice(&from[..length]);
        }
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(1_000_000_000);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(content.len() as u64);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// Records of PAX ahead of the next entry.
    pub(crate) fn pax(self, records: &[(&str, &[u8])]) -> Self {
        let mut words = Vec::new();
        for (key, value) in records {
            let rest = key.len() + value.len() + 3;
            let mut length = rest + 1;
            while length != rest + length.to_string().len() {
                length = rest + length.to_string().len();
            }
            words.extend_from_slice(format!("{length} {key}=").as_bytes());
            words.extend_from_slice(value);
            words.push(b'\n');
        }
        self.bytes(EntryType::XHeader, b"PaxHeaders/x", b"", 0o644, &words)
    }

    /// Bytes as they are.
    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The archive, ended as they end.
    pub(crate) fn done(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("packs");
    packed.finish().expect("packs")
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut packed = lzma_rust2::XzWriter::new(Vec::new(), options).expect("options");
    packed.write_all(bytes).expect("packs");
    packed.finish().expect("packs")
}

/// An image as documents and blobs; each of its parts can be made wrong before it is written.
pub(crate) struct Made {
    pub(crate) config: Value,
    pub(crate) manifest: Value,
    pub(crate) blobs: Vec<(Digest, Vec<u8>)>,
}

impl Made {
    /// Of plain layers, which are packed.
    pub(crate) fn of(layers: Vec<Layer>) -> Self {
        let layers: Vec<_> = layers.into_iter().map(Layer::done).collect();
        let packed = layers.iter().map(|layer| gzip(layer)).collect();
        Self::packed(&layers, packed)
    }

    pub(crate) fn packed(plain: &[Vec<u8>], packed: Vec<Vec<u8>>) -> Self {
        let diff_ids: Vec<_> = plain.iter().map(|layer| Digest::of(layer)).collect();
        let layers: Vec<_> = packed.iter().map(|layer| part(layer)).collect();
        Self {
            config: json!({
                "os": "linux", "architecture": HERE,
                "config": {"Env": ["PATH=/bin", "GREETING=hello there"], "Cmd": ["/bin/sh"], "WorkingDir": "/srv"},
                "rootfs": {"type": "layers", "diff_ids": diff_ids},
            }),
            manifest: json!({"schemaVersion": 2, "config": null, "layers": layers}),
            blobs: packed.into_iter().map(|layer| (Digest::of(&layer), layer)).collect(),
        }
    }

    /// All blobs and the manifest, with the config that there is now.
    pub(crate) fn settled(mut self) -> (Vec<(Digest, Vec<u8>)>, Vec<u8>) {
        let config = self.config.to_string().into_bytes();
        if self.manifest["config"].is_null() {
            self.manifest["config"] = part(&config);
        }
        self.blobs.push((Digest::of(&config), config));
        (self.blobs, self.manifest.to_string().into_bytes())
    }

    /// Writes an OCI layout.
    pub(crate) fn layout(self, folder: &Path) {
        let (mut blobs, manifest) = self.settled();
        let index = json!({"schemaVersion": 2, "manifests": [part(&manifest)]});
        blobs.push((Digest::of(&manifest), manifest));
        let store = folder.join("blobs/sha256");
        std::fs::create_dir_all(&store).expect("a folder");
        for (digest, bytes) in blobs {
            put(&store.join(digest.to_string().trim_start_matches("sha256:")), &bytes);
        }
        put(&folder.join("oci-layout"), br#"{"imageLayoutVersion": "1.0.0"}"#);
        put(&folder.join("index.json"), index.to_string().as_bytes());
    }
}

pub(crate) fn part(bytes: &[u8]) -> Value {
    json!({"mediaType": "application/octet-stream", "digest": Digest::of(bytes), "size": bytes.len()})
}

#[expect(clippy::disallowed_methods, reason = "a fixture in a folder of the test's own")]
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("it is written");
}

#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
pub(crate) fn get(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is read")
}

/// A store in a folder of its own, and a file outside that nothing may touch.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("outside")).expect("a folder");
        put(&folder.path().join("outside/canary"), b"alive");
        let mut options = Options::new(folder.path().join("images"));
        change(&mut options);
        let store = Store::open(options).expect("a store");
        Self { folder, store }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Imports an image as an OCI layout.
    pub(crate) fn take(&self, made: Made) -> Result<Image, ImageError> {
        let layout = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        made.layout(layout.path());
        self.import(Source::at(layout.path()).expect("a source"), "it:1")
    }

    pub(crate) fn import(&self, source: Source, name: &str) -> Result<Image, ImageError> {
        run(self.store.import(source, &named(name), &Watcher::nobody()))
    }

    /// The root of an image, by its name.
    pub(crate) fn root(&self, name: &str) -> PathBuf {
        run(self.store.hold(name)).expect("it is here").root()
    }

    /// How many files there are in a folder of the store, all below counted.
    pub(crate) fn count(&self, below: &str) -> usize {
        fn count(folder: &Path) -> usize {
            let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
            entries
                .map(|entry| {
                    1 + if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        count(&entry.path())
                    } else {
                        0
                    }
                })
                .sum()
        }
        count(&self.path("images").join(below))
    }

    /// Nothing outside was touched, and nothing is left inside.
    #[track_caller]
    pub(crate) fn is_untouched(&self) {
        assert_eq!(get(&self.path("outside/canary")), "alive");
        assert_eq!(std::fs::read_dir(self.path("outside")).expect("a folder").count(), 1);
        assert_eq!((self.count("staging"), self.count("blobs/sha256"), self.count("trees")), (0, 0, 0));
        assert!(run(self.store.list()).expect("a list").is_empty());
    }
}

pub(crate) fn named(name: &str) -> Reference {
    name.parse().expect(name)
}

pub(crate) fn run<T>(doing: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(doing)
}
