//! Random trees, and how a tree looks.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

/// One entry, put into one of the folders that were made before it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    folder: prop::sample::Index,
    name: Vec<u8>,
    mode: u32,
    seconds: i64,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Folder,
    /// Its length, and where something is written: so many bytes, beginning with this one.
    File(u64, Vec<(u64, usize, u8)>),
    Link(Vec<u8>),
    Pipe,
    /// Another name of one of the files before it.
    Again(prop::sample::Index),
}

pub(super) fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let name = prop_oneof![
        prop::collection::vec(1..=255_u8, 1..20),
        Just(vec![b'a'; 255]),
        "[a-c]".prop_map(String::into_bytes),
        Just(b"...".to_vec()),
    ];
    let name = name.prop_filter("one name", |name| !name.contains(&b'/') && name != b"." && name != b"..");
    let data = (0..300_000_u64, 0..50_000_usize, any::<u8>());
    let kind = prop_oneof![
        4 => Just(Kind::Folder),
        4 => (0..300_000_u64, prop::collection::vec(data, 0..3)).prop_map(|(size, data)| Kind::File(size, data)),
        1 => prop::collection::vec(1..=255_u8, 1..60).prop_map(Kind::Link),
        1 => Just(Kind::Pipe),
        2 => any::<prop::sample::Index>().prop_map(Kind::Again),
    ];
    let mode = prop_oneof![Just(0o755), Just(0o644), Just(0o000), Just(0o1777), Just(0o500), 0..0o1000_u32];
    let entry = (any::<prop::sample::Index>(), name, mode, -9_000_000_000..9_000_000_000_i64, kind);
    let entry =
        entry.prop_map(|(folder, name, mode, seconds, kind)| Entry { folder, name, mode, seconds, kind });
    prop::collection::vec(entry, 0..30)
}

/// Makes a tree; names that are taken are left out.
pub(super) fn build(root: &Path, entries: &[Entry]) {
    let (mut folders, mut files) = (vec![root.to_path_buf()], Vec::<PathBuf>::new());
    let mut modes = Vec::new();
    for entry in entries {
        let path = entry.folder.get(&folders).join(OsStr::from_bytes(&entry.name));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match &entry.kind {
            Kind::Folder => {
                std::fs::create_dir(&path).unwrap();
                folders.push(path.clone());
                modes.push((path, entry));
            }
            Kind::File(size, data) => {
                let file = OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
                file.set_len(*size).unwrap();
                for (at, length, first) in data {
                    let bytes: Vec<u8> =
                        (0..=250_u8).cycle().take(*length).map(|at| first.wrapping_add(at)).collect();
                    file.write_all_at(&bytes, *at).unwrap();
                }
                files.push(path.clone());
                modes.push((path, entry));
            }
            Kind::Link(target) => symlink(OsStr::from_bytes(target), &path).unwrap(),
            Kind::Pipe => {
                let mode = rustix::fs::Mode::from_raw_mode(0o640);
                rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
            Kind::Again(_) if files.is_empty() => {}
            Kind::Again(file) => {
                let file = file.get(&files);
                std::fs::hard_link(file, &path).unwrap();
            }
        }
    }
    // From the inside out, so that nothing is shut before what is in it.
    for (path, entry) in modes.into_iter().rev() {
        let time = rustix::fs::Timespec { tv_sec: entry.seconds, tv_nsec: 250_000_000 };
        let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
        rustix::fs::utimensat(rustix::fs::CWD, &path, &times, rustix::fs::AtFlags::empty()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(entry.mode)).unwrap();
    }
}

/// How an entry looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    kind: char,
    mode: u32,
    time: (i64, i64),
    content: Vec<u8>,
    /// The first of its names.
    same_as: PathBuf,
}

/// How a tree looks. Takes the permissions of what it looks at away, to look into it.
pub(super) fn look(root: &Path) -> BTreeMap<PathBuf, Look> {
    let (mut all, mut names) = (BTreeMap::new(), BTreeMap::new());
    let mut folders = vec![root.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let stat = folder.symlink_metadata().unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        if folder != root {
            found.push((folder.clone(), stat));
        }
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stat = path.symlink_metadata().unwrap();
            if stat.is_dir() { folders.push(path) } else { found.push((path, stat)) }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    for (path, stat) in found {
        let kind = stat.file_type();
        let (letter, content) = if kind.is_dir() {
            ('d', Vec::new())
        } else if kind.is_symlink() {
            ('l', std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else if kind.is_fifo() {
            ('p', Vec::new())
        } else {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            ('f', content(&path, stat.len()))
        };
        let within = path.strip_prefix(root).unwrap().to_path_buf();
        let same_as = names.entry(stat.ino()).or_insert_with(|| within.clone()).clone();
        // Of names of one file, only the first still has the permissions.
        let mode = if same_as == within { stat.mode() & 0o7777 } else { 0 };
        let time = (stat.mtime(), stat.mtime_nsec());
        all.insert(within, Look { kind: letter, mode, time, content, same_as });
    }
    all
}

fn content(path: &Path, length: u64) -> Vec<u8> {
    #[expect(clippy::disallowed_methods, reason = "a file that this test has made")]
    let file = File::open(path).unwrap();
    let mut content = vec![0; usize::try_from(length).unwrap()];
    file.read_exact_at(&mut content, 0).unwrap();
    content
}
