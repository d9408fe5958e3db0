//! What a kernel gets that asks whatever it likes.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use bailiwick_sys::{Errno, privileges};
use bailiwick_testkit::requires;

use super::changes::Made;
use super::{Names, Owner, Question, Server, Share, Shares};

const LOOKUP: u32 = 1;
const SETATTR: u32 = 4;
const READLINK: u32 = 5;
const SYMLINK: u32 = 6;
const MKNOD: u32 = 8;
const MKDIR: u32 = 9;
const UNLINK: u32 = 10;
const RMDIR: u32 = 11;
const RENAME: u32 = 12;
const LINK: u32 = 13;
const READ: u32 = 15;
const WRITE: u32 = 16;
const READDIR: u32 = 28;
/// The root of what is served, and the two folders in it.
const ROOT: u64 = 1;
const READ_ONLY: u64 = 2;
const WRITABLE: u64 = 3;

type Answer = Result<Vec<u8>, Errno>;

/// A server of two folders, and the folder that both are in.
struct Place {
    server: Server,
    folder: tempfile::TempDir,
}

#[expect(clippy::disallowed_methods, reason = "a test makes the files that it serves")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

impl Place {
    /// Served for somebody who owns what this user makes, or for nobody who owns anything.
    fn new(is_owner: bool) -> Self {
        Self::by(is_owner, false)
    }

    /// The same, by somebody who can make files another's, or who cannot.
    fn by(is_owner: bool, as_root: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["read", "write"] {
            std::fs::create_dir(at(name)).unwrap();
            write(&at(name).join("one"), "of the host's");
            symlink("/etc", at(name).join("link")).unwrap();
        }
        write(&at("secret"), "secret");
        let owner = std::fs::metadata(folder.path()).unwrap();
        let user = if is_owner { (owner.uid(), owner.gid()) } else { (64_924, 64_924) };
        let share = |name: &str, writable| {
            Share::hold(name.to_owned(), &at(name), writable, Owner::AsItIs, false).unwrap()
        };
        let list = vec![share("read", false), share("write", true)];
        let shares = Arc::new(Shares { list, user, inside: (64_924, 64_924), as_root });
        Self { server: Server::new(shares, Names::new(2)), folder }
    }

    fn ask(&mut self, kind: u32, node: u64, body: &[u8]) -> Answer {
        let mut frame = vec![0; 40];
        frame[4..8].copy_from_slice(&kind.to_le_bytes());
        frame[16..24].copy_from_slice(&node.to_le_bytes());
        frame.extend(body);
        self.server.answer(&Question::read(&frame).unwrap()).unwrap()
    }

    /// The number of a name.
    fn find(&mut self, node: u64, name: &str) -> Result<u64, Errno> {
        let told = self.ask(LOOKUP, node, format!("{name}\0").as_bytes())?;
        Ok(u64::from_le_bytes(told[..8].try_into().unwrap()))
    }

    fn read(&mut self, node: u64) -> Answer {
        let mut body = vec![0; 40];
        body[16..20].copy_from_slice(&100_u32.to_le_bytes());
        self.ask(READ, node, &body)
    }

    /// Makes a file.
    fn make(&mut self, node: u64, name: &str) -> Answer {
        let mut body = vec![0; 16];
        body[..4].copy_from_slice(&0o100_644_u32.to_le_bytes());
        body.extend(format!("{name}\0").as_bytes());
        self.ask(MKNOD, node, &body)
    }

    fn write(&mut self, node: u64, text: &str) -> Answer {
        let mut body = vec![0; 40];
        body[16..20].copy_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        body.extend(text.as_bytes());
        self.ask(WRITE, node, &body)
    }
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_is_named_is_read_and_written() {
    let mut place = Place::new(true);
    assert_eq!(place.find(ROOT, "read"), Ok(READ_ONLY));
    let one = place.find(READ_ONLY, "one").unwrap();
    assert_eq!(place.read(one).unwrap(), b"of the host's");
    let link = place.find(WRITABLE, "link").unwrap();
    assert_eq!(place.ask(READLINK, link, &[]).unwrap(), b"/etc");
    place.make(WRITABLE, "two").unwrap();
    let two = place.find(WRITABLE, "two").unwrap();
    place.write(two, "new").unwrap();
    assert_eq!(place.read(two).unwrap(), b"new");
    // One that is removed is still read by whoever has it open, and is no part of a copy.
    assert!(place.server.known().is_some());
    place.ask(UNLINK, WRITABLE, b"two\0").unwrap();
    assert_eq!(place.read(two).unwrap(), b"new");
    assert!(place.server.known().is_none());
    assert_eq!(place.find(WRITABLE, "two"), Err(Errno::NOENT));
}

#[test]
fn a_kernel_that_was_broken_into_gets_no_more_than_was_named() {
    let mut place = Place::new(true);
    // No way up, no way through a link, no name that is a path.
    for name in ["..", ".", "", "../secret", "one/../../secret", "/etc/passwd"] {
        assert_eq!(place.find(READ_ONLY, name), Err(Errno::INVAL), "{name}");
        assert_eq!(place.make(WRITABLE, name), Err(Errno::INVAL), "{name}");
    }
    let link = place.find(WRITABLE, "link").unwrap();
    for (kind, body) in
        [(LOOKUP, b"passwd\0".as_slice()), (UNLINK, b"passwd\0"), (MKDIR, b"\0\0\0\0\0\0\0\0new\0")]
    {
        assert!(place.ask(kind, link, body).is_err(), "{kind}");
    }
    assert!(place.read(link).is_err());
    // A folder that becomes a link after it was looked up leads nowhere either.
    let at = place.folder.path().join("write");
    std::fs::create_dir(at.join("inner")).unwrap();
    let inner = place.find(WRITABLE, "inner").unwrap();
    std::fs::remove_dir(at.join("inner")).unwrap();
    symlink(place.folder.path(), at.join("inner")).unwrap();
    assert!(place.find(inner, "secret").is_err());
    // Numbers that nobody was told, and nothing but files, folders and links.
    for node in [0, ROOT, 4, 99, u64::MAX] {
        assert!(place.read(node).is_err(), "{node}");
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, at.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(place.find(WRITABLE, "pipe"), Err(Errno::NOENT));
}

#[test]
fn nothing_is_changed_where_it_may_only_be_read() {
    let mut place = Place::new(true);
    let one = place.find(READ_ONLY, "one").unwrap();
    let theirs = place.find(WRITABLE, "one").unwrap();
    assert_eq!(place.make(READ_ONLY, "new"), Err(Errno::ROFS));
    assert_eq!(place.write(one, "changed"), Err(Errno::ROFS));
    assert_eq!(place.ask(UNLINK, READ_ONLY, b"one\0"), Err(Errno::ROFS));
    assert_eq!(place.ask(MKDIR, READ_ONLY, b"\0\0\0\0\0\0\0\0new\0"), Err(Errno::ROFS));
    assert_eq!(place.ask(SYMLINK, READ_ONLY, b"new\0/etc\0"), Err(Errno::ROFS));
    let from = [WRITABLE.to_le_bytes().as_slice(), b"one\0stolen\0"].concat();
    assert_eq!(place.ask(RENAME, READ_ONLY, &from), Err(Errno::ROFS));
    let to = [READ_ONLY.to_le_bytes().as_slice(), b"one\0planted\0"].concat();
    assert_eq!(place.ask(RENAME, WRITABLE, &to), Err(Errno::ROFS));
    let name = [one.to_le_bytes().as_slice(), b"linked\0"].concat();
    assert_eq!(place.ask(LINK, WRITABLE, &name), Err(Errno::XDEV));
    let name = [theirs.to_le_bytes().as_slice(), b"linked\0"].concat();
    assert_eq!(place.ask(LINK, READ_ONLY, &name), Err(Errno::ROFS));
    // Its length, then its mode.
    for what in [1_u32 << 3, 1] {
        let mut body = vec![0; 88];
        body[..4].copy_from_slice(&what.to_le_bytes());
        assert_eq!(place.ask(SETATTR, one, &body), Err(Errno::ROFS));
    }
    assert_eq!(place.read(one).unwrap(), b"of the host's");
    assert_eq!(std::fs::read_dir(place.folder.path().join("read")).unwrap().count(), 2);
}

#[test]
fn what_the_sandboxs_user_may_not_read_is_not_read_for_it() {
    let mut place = Place::new(false);
    let at = place.folder.path().to_owned();
    allow(&at.join("read/one"), 0o600);
    std::fs::create_dir(at.join("read/closed")).unwrap();
    write(&at.join("read/closed/two"), "secret");
    let one = place.find(READ_ONLY, "one").unwrap();
    assert_eq!(place.read(one), Err(Errno::ACCESS));
    let closed = place.find(READ_ONLY, "closed").unwrap();
    let listed = |place: &mut Place| {
        let mut body = vec![0; 40];
        body[16..20].copy_from_slice(&4096_u32.to_le_bytes());
        place.ask(READDIR, closed, &body)
    };
    assert!(!listed(&mut place).unwrap().is_empty());
    allow(&at.join("read/closed"), 0o700);
    assert_eq!(listed(&mut place), Err(Errno::ACCESS));
    assert_eq!(place.find(closed, "two"), Err(Errno::ACCESS));
    // Nothing is made in a folder of somebody else's.
    assert_eq!(place.make(WRITABLE, "new"), Err(Errno::ACCESS));
}

#[test]
fn a_file_that_loses_its_name_is_read_and_written_no_further_than_before() {
    #[track_caller]
    fn check(mode: u32, is_read: bool, is_written: bool) {
        let mut place = Place::new(false);
        let folder = place.folder.path().join("write");
        allow(&folder, 0o777);
        allow(&folder.join("one"), mode);
        let one = place.find(WRITABLE, "one").unwrap();
        place.ask(UNLINK, WRITABLE, b"one\0").unwrap();
        let read = place.read(one);
        assert_eq!(read.is_ok(), is_read, "{mode:o}: {read:?}");
        let written = place.write(one, "changed");
        assert_eq!(written.is_ok(), is_written, "{mode:o}: {written:?}");
    }
    check(0o600, false, false);
    check(0o640, false, false);
    check(0o644, true, false);
    check(0o666, true, true);
    check(0o662, false, false);
}

#[test]
fn a_program_that_runs_as_its_owner_no_longer_does_once_it_was_written_to() {
    // This process may be root, for whom the kernel keeps the bits.
    for unlinked in [false, true] {
        for by in ["a write", "a new length"] {
            let mut place = Place::new(true);
            let program = place.folder.path().join("write/program");
            write(&program, "of the host's");
            // By another name it is still there when the machine has removed the first.
            let other = place.folder.path().join("other");
            std::fs::hard_link(&program, &other).unwrap();
            allow(&program, 0o6755);
            let node = place.find(WRITABLE, "program").unwrap();
            if unlinked {
                place.ask(UNLINK, WRITABLE, b"program\0").unwrap();
            }
            if by == "a write" {
                place.write(node, "of the guest's").unwrap();
            } else {
                let mut body = vec![0; 88];
                body[..4].copy_from_slice(&(1_u32 << 3).to_le_bytes());
                place.ask(SETATTR, node, &body).unwrap();
            }
            let mode = std::fs::metadata(&other).unwrap().mode() & 0o7777;
            assert_eq!(format!("{mode:o}"), "755", "{by}, unlinked: {unlinked}");
        }
    }
}

#[test]
fn a_folder_of_anothers_is_not_moved_to_another_folder() {
    // Its way up would be another, and that is written in it.
    let mut place = Place::new(false);
    let at = place.folder.path().join("write");
    allow(&at, 0o777);
    std::fs::create_dir(at.join("theirs")).unwrap();
    std::fs::create_dir(at.join("to")).unwrap();
    allow(&at.join("to"), 0o777);
    let to = place.find(WRITABLE, "to").unwrap();
    let elsewhere = [to.to_le_bytes().as_slice(), b"theirs\0theirs\0"].concat();
    assert_eq!(place.ask(RENAME, WRITABLE, &elsewhere), Err(Errno::ACCESS));
    // Another name in the same folder is that folder's matter.
    let here = [WRITABLE.to_le_bytes().as_slice(), b"theirs\0renamed\0"].concat();
    assert_eq!(place.ask(RENAME, WRITABLE, &here), Ok(Vec::new()));
}

#[test]
fn in_a_sticky_folder_names_are_only_for_their_owners_to_take() {
    #[track_caller]
    fn check(is_owner: bool, mode: u32, expected: Result<(), Errno>) {
        let mut place = Place::new(is_owner);
        let folder = place.folder.path().join("write");
        allow(&folder, mode);
        write(&folder.join("other"), "of the host's");
        std::fs::create_dir(folder.join("inner")).unwrap();
        let renamed = |names: &str| [WRITABLE.to_le_bytes().as_slice(), names.as_bytes()].concat();
        let moved = place.ask(RENAME, WRITABLE, &renamed("one\0new\0")).map(|_| ());
        assert_eq!(moved, expected, "{mode:o}");
        let from = if moved.is_ok() { "new" } else { "one" };
        let covered = place.ask(RENAME, WRITABLE, &renamed(&format!("{from}\0other\0")));
        assert_eq!(covered.map(|_| ()), expected, "{mode:o}");
        assert_eq!(place.ask(UNLINK, WRITABLE, b"other\0").map(|_| ()), expected, "{mode:o}");
        assert_eq!(place.ask(RMDIR, WRITABLE, b"inner\0").map(|_| ()), expected, "{mode:o}");
        assert_eq!(folder.join("other").exists(), expected.is_err(), "{mode:o}");
    }
    check(false, 0o1777, Err(Errno::PERM));
    check(false, 0o777, Ok(()));
    check(true, 0o1777, Ok(()));
}

#[test]
fn in_a_sticky_folder_of_anothers_the_sandbox_takes_its_own_but_covers_nobody_elses() {
    requires!("root", privileges::identity().0 == 0);
    let mut place = Place::by(false, true);
    let folder = place.folder.path().join("write");
    allow(&folder, 0o1777);
    for name in ["own", "another"] {
        place.make(WRITABLE, name).unwrap();
        assert_eq!(std::fs::metadata(folder.join(name)).unwrap().uid(), 64_924);
    }
    let over = [WRITABLE.to_le_bytes().as_slice(), b"own\0one\0"].concat();
    assert_eq!(place.ask(RENAME, WRITABLE, &over), Err(Errno::PERM));
    let moved = [WRITABLE.to_le_bytes().as_slice(), b"own\0moved\0"].concat();
    place.ask(RENAME, WRITABLE, &moved).unwrap();
    place.ask(UNLINK, WRITABLE, b"another\0").unwrap();
    // A kernel that sees the bit does not even ask.
    let told = place.ask(LOOKUP, ROOT, b"write\0").unwrap();
    let mode = u32::from_le_bytes(told[100..104].try_into().unwrap());
    assert_eq!(mode & 0o7777, 0o1777);
}

#[test]
fn what_somebody_put_in_place_of_what_was_made_is_not_given_away() {
    requires!("root", privileges::identity().0 == 0);
    let mut place = Place::by(false, true);
    let folder = place.folder.path().join("write");
    allow(&folder, 0o777);
    let owner = |name: &str| std::fs::symlink_metadata(folder.join(name)).unwrap().uid();
    // What is made is the sandbox's.
    place.ask(MKDIR, WRITABLE, b"\xed\x01\0\0\0\0\0\0made\0").unwrap();
    place.ask(SYMLINK, WRITABLE, b"leads\0/etc\0").unwrap();
    assert_eq!((owner("made"), owner("leads")), (64_924, 64_924));
    // Something of root's that is there instead stays root's.
    std::fs::create_dir(folder.join("full")).unwrap();
    write(&folder.join("full/inner"), "of the host's");
    std::fs::create_dir(folder.join("theirs")).unwrap();
    std::os::unix::fs::chown(folder.join("theirs"), Some(1), Some(1)).unwrap();
    let above = place.server.find(WRITABLE).unwrap();
    for (name, made) in [
        (c"one", Made::Folder),
        (c"link", Made::Folder),
        (c"full", Made::Folder),
        (c"theirs", Made::Folder),
        (c"one", Made::Link(c"/etc")),
        (c"link", Made::Link(c"/elsewhere")),
    ] {
        let before = owner(name.to_str().unwrap());
        assert_eq!(place.server.own_named(&above, name, made), Err(Errno::BUSY), "{name:?}");
        assert_eq!(owner(name.to_str().unwrap()), before, "{name:?}");
    }
}
