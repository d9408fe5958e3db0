use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;

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
