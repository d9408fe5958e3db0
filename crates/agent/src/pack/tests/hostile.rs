use std::ffi::CString;
use std::path::Path;

use bailiwick_sys::Errno;
use proptest::prelude::*;

use super::super::BEGINS;
use super::super::record::{Meta, Record};
use super::tree::{build, entries, look};
use super::{pack, unpack};

const META: Meta = Meta { mode: 0o755, seconds: 7, nanoseconds: 0 };

fn name(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn packed(records: &[Record<'_>]) -> Vec<u8> {
    let mut bytes = BEGINS.to_vec();
    for record in records {
        assert!(record.write(&mut bytes));
    }
    bytes
}

/// A folder with something beside it that has to stay as it is.
struct Beside(tempfile::TempDir);

impl Beside {
    fn new() -> Self {
        let outer = super::scratch();
        for folder in ["inside", "outside"] {
            std::fs::create_dir(outer.path().join(folder)).unwrap();
        }
        std::fs::create_dir(outer.path().join("outside/kept")).unwrap();
        let witness = outer.path().join("outside/file");
        std::fs::OpenOptions::new().write(true).create_new(true).open(witness).unwrap();
        std::os::unix::fs::symlink("../outside", outer.path().join("inside/born")).unwrap();
        Self(outer)
    }

    fn inside(&self) -> std::path::PathBuf {
        self.0.path().join("inside")
    }

    /// Everything but what is inside.
    #[track_caller]
    fn is_untouched(&self) {
        let all = look(self.0.path());
        let outside: Vec<_> = all.keys().filter(|path| !path.starts_with("inside")).collect();
        let expected = ["outside", "outside/file", "outside/kept"];
        assert_eq!(outside, expected.map(Path::new), "something was made outside");
        let file = self.0.path().join("outside/file").metadata().unwrap();
        assert_eq!((file.len(), std::os::unix::fs::MetadataExt::nlink(&file)), (0, 1));
    }
}

#[track_caller]
fn check(records: &[Record<'_>], expected: Result<(), Errno>) {
    let beside = Beside::new();
    let said = unpack(&packed(records), &beside.inside(), 100).map_err(|trouble| trouble.errno);
    assert_eq!(said, expected, "{records:?}");
    beside.is_untouched();
}

#[test]
fn a_name_is_never_a_path() {
    use Record::{Close, Data, End, Enter, File, Leave, Link, Pipe, Root};
    for bad in ["..", ".", "", "/", "/tmp", "a/b", "../outside", "a/../../outside"] {
        for record in [
            Enter(name(bad)),
            File(name(bad), META, 1),
            Link(name(bad), META, name("x")),
            Pipe(name(bad), META),
            Record::Again(name(bad), 0, b"a"),
        ] {
            check(&[Root(0), record, Leave(META), End], Err(Errno::INVAL));
        }
        if bad == "a/b" {
            // A file that came before is named by its path.
            continue;
        }
        let file = [Root(0), File(name("a"), META, 1), Data(0, b"x"), Close];
        let again = Record::Again(name("b"), 0, bad.as_bytes());
        check(&[file.to_vec(), vec![again, Leave(META), End]].concat(), Err(Errno::INVAL));
    }
}

#[test]
fn no_link_is_followed() {
    use Record::{Again, Close, End, Enter, File, Leave, Link, Root};
    let out = || Link(name("out"), META, name("../outside"));
    let not_a_folder = Err(Errno::NOTDIR);
    check(&[Root(0), out(), Leave(META), End], Ok(()));
    // Through a link of its own, and through one that was there before it.
    for link in ["out", "born"] {
        check(&[Root(0), out(), Enter(name(link)), Leave(META), Leave(META), End], not_a_folder);
        check(&[Root(0), out(), File(name(link), META, 0), Close, Leave(META), End], Err(Errno::EXIST));
        let path = format!("{link}/file");
        check(&[Root(0), out(), Again(name("b"), 0, path.as_bytes()), Leave(META), End], not_a_folder);
        // A second name is for files only.
        check(&[Root(0), out(), Again(name("b"), 0, link.as_bytes()), Leave(META), End], Err(Errno::INVAL));
    }
}

#[test]
fn records_come_in_their_order_or_not_at_all() {
    use Record::{Close, Data, End, Enter, File, Leave, Root};
    let file = |size| File(name("f"), META, size);
    let broken = Err(Errno::INVAL);
    check(&[], broken);
    check(&[End], Ok(()));
    check(&[End, End], broken);
    check(&[Root(0)], broken);
    check(&[Root(0), End], broken);
    check(&[Root(0), Leave(META), Leave(META), End], broken);
    check(&[Root(1), Leave(META), End], broken);
    check(&[Root(u16::MAX), Leave(META), End], broken);
    check(&[Enter(name("a")), End], broken);
    check(&[Root(0), Root(0), Leave(META), End], broken);
    check(&[Root(0), Data(0, b"x"), Leave(META), End], broken);
    check(&[Root(0), Close, Leave(META), End], broken);
    check(&[Root(0), file(1), Leave(META), End], broken);
    check(&[Root(0), file(1), Enter(name("a")), End], broken);
    check(&[Root(0), file(1), file(1), End], broken);
    check(&[Root(0), file(3), Data(1, b"xyz"), Close, Leave(META), End], broken);
    check(&[Root(0), file(3), Data(u64::MAX, b"xyz"), Close, Leave(META), End], broken);
    check(&[Root(0), file(u64::MAX), Close, Leave(META), End], Err(Errno::INVAL));
    check(&[Root(0), file(3), Data(0, b"xyz"), Close, Leave(META), End], Ok(()));
}

#[test]
fn who_somebody_is_cannot_be_packed() {
    for mode in [0o4755, 0o2755, 0o17_0000] {
        let meta = Meta { mode, ..META };
        check(&[Record::Root(0), Record::File(name("f"), meta, 0)], Err(Errno::INVAL));
        check(&[Record::Root(0), Record::Leave(meta), Record::End], Err(Errno::INVAL));
    }
    let meta = Meta { nanoseconds: 1_000_000_000, ..META };
    check(&[Record::Root(0), Record::Pipe(name("f"), meta)], Err(Errno::INVAL));
}

#[test]
fn depth_has_an_end() {
    let mut records = vec![Record::Root(0)];
    records.extend((0..5000).map(|_| Record::Enter(name("d"))));
    let outer = super::scratch();
    let said = unpack(&packed(&records), outer.path(), 4000).map_err(|trouble| trouble.errno);
    assert_eq!(said, Err(Errno::NAMETOOLONG));
    crate::reset::wipe(&[super::text(outer.path())]);
}

/// Where a pack is changed, and how.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    use prop::sample::Index;
    let letters = prop::sample::select(b"rdufbclhpe./\0\x01\xff".to_vec());
    let change = prop_oneof![
        6 => (any::<Index>(), prop_oneof![any::<u8>(), letters]).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        1 => (any::<Index>(), 1..200_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        1 => any::<Index>().prop_map(Change::Cut),
    ];
    prop::collection::vec(change, 1..6)
}

fn change(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    match change {
        Change::Set(at, byte) => *at.get_mut(bytes) = *byte,
        Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Change::Remove(at, length) => {
            let from = at.index(bytes.len());
            bytes.drain(from..(from + length).min(bytes.len()));
        }
        Change::Repeat(at, length) => {
            let from = at.index(bytes.len());
            let part = bytes[from..(from + length).min(bytes.len())].to_vec();
            bytes.splice(from..from, part);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_pack_says_nothing_outside_is_touched(entries in entries(), changes in changes()) {
        let from = super::scratch();
        build(from.path(), &entries);
        let mut bytes = pack(from.path());
        for one in &changes {
            change(&mut bytes, one);
        }
        let beside = Beside::new();
        let _either_way = unpack(&bytes, &beside.inside(), 5000);
        // What it made may be as large as it says, and has nothing in it: it is not looked at, only removed.
        crate::reset::wipe(&[super::text(&beside.inside())]);
        beside.is_untouched();
        crate::reset::wipe(&[super::text(from.path())]);
    }
}
