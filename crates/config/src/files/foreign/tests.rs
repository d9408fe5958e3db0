//! Files of other programs: kept, replaced, left alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::super::{Readers, read_document, replace};
use super::{FileError, Foreign, ForeignError, Links};

const MOMENT: &str = "20260102T030405Z";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn with(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        replace(&path, text, Readers::Everybody).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// The names in it, in order.
    fn names(&self) -> Vec<String> {
        let names = self.0.path().read_dir().unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn read(path: &Path) -> Result<Foreign, ForeignError> {
    Foreign::read(path, Links::Anywhere)
}

#[test]
fn what_was_there_is_kept_for_its_owner_alone_and_the_permissions_stay() {
    let folder = Folder::new();
    let path = folder.with("a.json", "old", 0o640);
    let kept = read(&path).unwrap().replace("new", MOMENT).unwrap().unwrap();
    assert_eq!(kept, folder.path("a.json.bailiwick-backup-20260102T030405Z"));
    assert_eq!((read_document(&path).unwrap(), mode(&path)), ("new".to_owned(), 0o640));
    assert_eq!((read_document(&kept).unwrap(), mode(&kept)), ("old".to_owned(), 0o600));
    // Twice in one moment, nothing that was kept is lost.
    let again = read(&path).unwrap().replace("newer", MOMENT).unwrap().unwrap();
    assert_eq!(read_document(&again).unwrap(), "new");
    assert_eq!(read_document(&kept).unwrap(), "old");
}

#[test]
fn a_file_that_was_not_there_is_made_with_its_folder_for_its_owner_alone() {
    let folder = Folder::new();
    let path = folder.path("one/two/a.json");
    assert_eq!(read(&path).unwrap().text(), None);
    assert_eq!(read(&path).unwrap().replace("new", MOMENT).unwrap(), None);
    assert_eq!((read_document(&path).unwrap(), mode(&path)), ("new".to_owned(), 0o600));
}

#[test]
fn what_changed_since_it_was_read_is_not_written_over() {
    let folder = Folder::new();
    let path = folder.with("a.json", "old", 0o600);
    let free = folder.path("free.json");
    let (there, not_there) = (read(&path).unwrap(), read(&free).unwrap());
    folder.with("a.json", "theirs", 0o600);
    folder.with("free.json", "theirs", 0o600);
    for (file, path) in [(there, &path), (not_there, &free)] {
        let refused = file.replace("ours", MOMENT);
        assert!(matches!(refused, Err(ForeignError::Changed { .. })), "{refused:?}");
        assert_eq!(read_document(path).unwrap(), "theirs");
    }
    assert_eq!(folder.names(), ["a.json", "free.json"], "nothing is left behind");
    // Gone, made wider, or led elsewhere, it has changed as well.
    let file = read(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(file.replace("ours", MOMENT), Err(ForeignError::Changed { .. })));
    let file = read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(file.replace("ours", MOMENT), Err(ForeignError::Changed { .. })));
    let (link, file) = (folder.path("link"), &free);
    symlink(file, &link).unwrap();
    let linked = read(&link).unwrap();
    folder.with("link", "theirs", 0o600);
    assert!(matches!(linked.replace("ours", MOMENT), Err(ForeignError::Changed { .. })));
    assert_eq!(folder.names(), ["free.json", "link"]);
}

#[test]
fn a_link_stays_one_and_what_it_points_at_is_changed() {
    let folder = Folder::new();
    let real = folder.with("dotfiles.json", "old", 0o600);
    let link = folder.path("a.json");
    symlink("dotfiles.json", &link).unwrap();
    let file = read(&link).unwrap();
    assert!(file.is_linked() && file.real() == real, "{file:?}");
    let kept = file.replace("new", MOMENT).unwrap().unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(read_document(&real).unwrap(), "new");
    assert_eq!(kept, folder.path(&format!("a.json.bailiwick-backup-{MOMENT}")), "beside the link");
}

#[test]
fn a_link_out_of_a_strangers_folder_is_not_followed() {
    let (mine, theirs) = (Folder::new(), Folder::new());
    let private = mine.with("private.json", "{}", 0o600);
    let folder = theirs.path("");
    // The file itself is a link, or a folder on the way is.
    symlink(&private, theirs.path("a.json")).unwrap();
    symlink(mine.path(""), theirs.path("below")).unwrap();
    for name in ["a.json", "below/private.json", "below/new.json", "../a.json"] {
        let refused = Foreign::read(&theirs.path(name), Links::Within(&folder));
        assert!(matches!(refused, Err(ForeignError::LeadsOut { .. })), "{name}: {refused:?}");
    }
    theirs.with("inside.json", "{}", 0o600);
    symlink("inside.json", theirs.path("fine.json")).unwrap();
    for name in ["fine.json", "inside.json", "new/new.json"] {
        let found = Foreign::read(&theirs.path(name), Links::Within(&folder));
        assert!(found.is_ok(), "{name}: {found:?}");
    }
}

#[test]
fn what_nobody_vouches_for_or_cannot_be_read_is_left_alone() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).unwrap();
    symlink("nowhere", folder.path("dead")).unwrap();
    let read_only = folder.with("read-only.json", "{}", 0o444);
    let refused = read(&read_only).unwrap().replace("new", MOMENT);
    assert!(matches!(refused, Err(ForeignError::ReadOnly { .. })), "{refused:?}");
    assert!(matches!(read(&folder.path("dead")), Err(ForeignError::DeadLink { .. })));
    let file = |name: &str| match read(&folder.path(name)) {
        Err(ForeignError::File(error)) => error,
        other => panic!("{name}: {other:?}"),
    };
    assert!(matches!(file("folder"), FileError::NotRegular { .. }));
    folder.with("wide.json", "{}", 0o666);
    assert!(matches!(file("wide.json"), FileError::WritableByAll { .. }));
    assert_eq!(folder.names(), ["dead", "folder", "read-only.json", "wide.json"]);
}
