//! Files that are written beside their place before they take it.

use super::{FileError, Readers, Replacement, create, read_document};

#[test]
fn a_file_that_is_there_is_not_created_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/file");
    create(&path, "one", Readers::Everybody).unwrap();
    let again = create(&path, "two", Readers::Everybody);
    assert!(
        matches!(again, Err(FileError::Write { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists)
    );
    assert_eq!(read_document(&path).unwrap(), "one");
}

#[test]
fn what_is_written_piece_by_piece_is_seen_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut replacement = Replacement::begin(&path, Readers::Owner).unwrap();
    replacement.write("one ").unwrap();
    assert!(!path.exists());
    replacement.write("two").unwrap();
    replacement.take_its_place().unwrap();
    assert_eq!(read_document(&path).unwrap(), "one two");
    let mut dropped = Replacement::begin(&path, Readers::Owner).unwrap();
    dropped.write("three").unwrap();
    drop(dropped);
    assert_eq!(read_document(&path).unwrap(), "one two");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "nothing is left behind");
}
