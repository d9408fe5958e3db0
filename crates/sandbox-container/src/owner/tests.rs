use super::*;

#[test]
fn an_owner_is_gone_when_nobody_holds_its_file() {
    let state = tempfile::tempdir().unwrap();
    let held = Held::new(state.path()).unwrap();
    assert_eq!(all(state.path()), [held.name.as_str()]);
    assert!(left(state.path(), &held.name).unwrap().is_none(), "it lives");
    let name = held.name.clone();
    drop(held);
    let gone = left(state.path(), &name).unwrap().expect("it is gone");
    assert!(left(state.path(), &name).unwrap().is_none(), "one at a time removes what it left");
    gone.remove().unwrap();
    assert!(all(state.path()).is_empty());
    assert!(left(state.path(), &name).unwrap().is_none(), "it was removed");
}

#[test]
fn a_file_that_lost_its_name_is_no_owners() {
    let state = tempfile::tempdir().unwrap();
    let held = Held::new(state.path()).unwrap();
    assert!(is_at(&held.path, &held.file));
    std::fs::remove_file(&held.path).unwrap();
    assert!(!is_at(&held.path, &held.file));
    OpenOptions::new().write(true).create_new(true).open(&held.path).unwrap();
    assert!(!is_at(&held.path, &held.file), "another one of the same name");
}
