use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;

use super::into::data_from;
use super::tree::{build, entries, look};
use super::{pack, unpack};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_unpacked_looks_as_what_was_packed(entries in entries(), part in 1..70_000_usize) {
        let (from, to) = (super::scratch(), super::scratch());
        build(from.path(), &entries);
        let packed = pack(from.path());
        unpack(&packed, to.path(), part).unwrap();
        let (there, here) = (look(to.path()), look(from.path()));
        prop_assert_eq!(there, here);
    }
}

#[test]
fn holes_take_no_room() {
    let (from, to) = (super::scratch(), super::scratch());
    let file =
        std::fs::OpenOptions::new().write(true).create_new(true).open(from.path().join("file")).unwrap();
    file.set_len(1 << 30).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"here", 1 << 29).unwrap();
    let packed = pack(from.path());
    assert!(packed.len() < 10_000, "{} bytes", packed.len());
    unpack(&packed, to.path(), 999).unwrap();
    let stat = to.path().join("file").metadata().unwrap();
    assert_eq!(stat.len(), 1 << 30);
    assert!(stat.blocks() < 100, "{} blocks", stat.blocks());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test's own, and one of the kernel")]
fn where_holes_are_not_told_apart_all_is_data() {
    let folder = super::scratch();
    let file = folder.path().join("file");
    std::fs::write(&file, "here").unwrap();
    let open = |path: &std::path::Path| std::fs::File::open(path).unwrap().into();
    assert_eq!(data_from(&open(&file), 1), Ok(Some((1, 4))));
    assert_eq!(data_from(&open(&file), 4), Ok(None));
    // A file of the kernel, which knows no holes.
    assert_eq!(data_from(&open("/proc/self/status".as_ref()), 1), Ok(Some((1, u64::MAX))));
}

#[test]
fn sockets_are_left_out_and_folders_keep_their_permissions_while_they_are_packed() {
    let (from, to) = (super::scratch(), super::scratch());
    let _listener = std::os::unix::net::UnixListener::bind(from.path().join("socket")).unwrap();
    let shut = from.path().join("shut");
    std::fs::create_dir(&shut).unwrap();
    std::fs::set_permissions(&shut, std::os::unix::fs::PermissionsExt::from_mode(0o100)).unwrap();
    unpack(&pack(from.path()), to.path(), 100).unwrap();
    assert_eq!(shut.metadata().unwrap().mode() & 0o7777, 0o100);
    assert_eq!(look(to.path()).len(), 1);
    // Opened again, so that it can be removed.
    std::fs::set_permissions(&shut, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}
