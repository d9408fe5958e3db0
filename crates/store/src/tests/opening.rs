//! What is opened, what is refused, and that nothing is written over.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rusqlite::Connection;

use super::stage::{Stage, append, on, options, put, tool, tool_count, verify};
use crate::{Store, StoreError, schema};

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = std::fs::OpenOptions::new().read(true).open(path).unwrap();
    std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
    bytes
}

fn lay(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    set_mode(path, 0o600);
}

/// A folder with a store that has a record and a tool in it.
fn used() -> Stage {
    let stage = Stage::new();
    on(async {
        let store = stage.open();
        append(&store, 0..9).await;
        put(&store, tool(1)).await.unwrap();
        store.close().await.unwrap();
    });
    stage
}

#[track_caller]
fn check_refused(stage: &Stage, is: impl FnOnce(&StoreError) -> bool) {
    let error = Store::open(&stage.folder, options()).expect_err("it was opened");
    assert!(is(&error), "{error:?}");
    assert!(error.hint().is_some());
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let stage = used();
    set_mode(&stage.folder, 0o720);
    check_refused(&stage, |error| matches!(error, StoreError::NotPrivate { take_away: "go-w", .. }));
    set_mode(&stage.folder, 0o702);
    check_refused(&stage, |error| matches!(error, StoreError::NotPrivate { mode: 0o702, .. }));
    set_mode(&stage.folder, 0o755);
    drop(stage.open());
}

#[test]
fn a_file_that_others_can_get_at_is_refused() {
    for name in ["store.db", "audit.key", "audit.heads"] {
        let stage = used();
        set_mode(&stage.path(name), 0o640);
        check_refused(&stage, |error| matches!(error, StoreError::NotPrivate { take_away: "go=", .. }));
    }
}

#[test]
fn a_link_is_refused_wherever_it_leads() {
    for name in ["store.db", "store.db-wal", "audit.key", "audit.heads"] {
        let stage = used();
        let elsewhere = stage.path("elsewhere");
        if std::fs::rename(stage.path(name), &elsewhere).is_err() {
            lay(&elsewhere, b"");
        }
        symlink(&elsewhere, stage.path(name)).unwrap();
        check_refused(&stage, |error| matches!(error, StoreError::WrongKind { .. }));
    }
    let stage = used();
    let link = Stage::new();
    symlink(&stage.folder, &link.folder).unwrap();
    check_refused(&link, |error| matches!(error, StoreError::WrongKind { expected: "folder", .. }));
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away; the rule is one comparison, made for folder and files alike.
        return;
    }
    for name in ["", "store.db", "audit.key", "audit.heads"] {
        let stage = used();
        std::os::unix::fs::chown(stage.path(name), Some(1), None).unwrap();
        check_refused(&stage, |error| matches!(error, StoreError::ForeignOwner { .. }));
    }
}

#[test]
fn a_missing_key_is_not_made_anew() {
    let stage = used();
    std::fs::remove_file(stage.path("audit.key")).unwrap();
    check_refused(&stage, |error| matches!(error, StoreError::MissingKey { .. }));
    assert!(!stage.path("audit.key").exists());
    // Nor when the word about it was taken away with it.
    stage.edit("DELETE FROM own");
    check_refused(&stage, |error| matches!(error, StoreError::MissingKey { .. }));
}

#[test]
fn a_key_of_another_store_is_refused() {
    let (stage, other) = (used(), used());
    lay(&stage.path("audit.key"), &bytes(&other.path("audit.key")));
    check_refused(&stage, |error| matches!(error, StoreError::WrongKey { .. }));
    lay(&stage.path("audit.key"), &[1; 31]);
    check_refused(&stage, |error| matches!(error, StoreError::DamagedKey { .. }));
    lay(&stage.path("audit.key"), &[1; 33]);
    check_refused(&stage, |error| matches!(error, StoreError::DamagedKey { .. }));
}

#[test]
fn a_key_that_is_there_before_its_store_is_used() {
    let stage = Stage::new();
    drop(stage.open());
    let key = bytes(&stage.path("audit.key"));
    std::fs::remove_file(stage.path("store.db")).unwrap();
    drop(stage.open());
    assert_eq!(bytes(&stage.path("audit.key")), key);
}

#[test]
fn a_damaged_file_is_left_as_it_is() {
    for junk in [b"this is no database, though it is long enough to be looked at ".repeat(200), vec![0; 8192]]
    {
        let stage = used();
        lay(&stage.path("store.db"), &junk);
        check_refused(&stage, |error| matches!(error, StoreError::Damaged { .. }));
        assert_eq!(bytes(&stage.path("store.db")), junk);
    }
}

#[test]
fn the_database_of_another_program_is_left_as_it_is() {
    let stage = used();
    std::fs::remove_file(stage.path("store.db")).unwrap();
    stage.edit("CREATE TABLE theirs (x)");
    set_mode(&stage.path("store.db"), 0o600);
    let before = bytes(&stage.path("store.db"));
    check_refused(&stage, |error| matches!(error, StoreError::Damaged { .. }));
    assert_eq!(bytes(&stage.path("store.db")), before);
}

#[test]
fn a_newer_file_is_left_as_it_is() {
    let stage = used();
    stage.edit("PRAGMA user_version = 900");
    let before = bytes(&stage.path("store.db"));
    check_refused(&stage, |error| matches!(error, StoreError::NewerFormat { version: 900, .. }));
    assert_eq!(bytes(&stage.path("store.db")), before);
}

#[track_caller]
fn check_migrates_from(version: i64) {
    let stage = Stage::new();
    std::fs::create_dir(&stage.folder).unwrap();
    set_mode(&stage.folder, 0o700);
    let path = stage.path("store.db");
    lay(&path, b"");
    let mut old = Connection::open(&path).unwrap();
    schema::migrate_to(&mut old, 0, version, &path).unwrap();
    drop(old);
    on(async {
        let store = stage.open();
        append(&store, 0..9).await;
        put(&store, tool(1)).await.unwrap();
        assert!(verify(&store).await.is_proven());
        store.close().await.unwrap();
    });
    assert_eq!(stage.number("PRAGMA user_version"), schema::known());
}

#[test]
fn every_older_format_is_brought_to_the_present_one() {
    (0..=schema::known()).for_each(check_migrates_from);
}

#[test]
fn a_step_that_fails_leaves_the_format_before_it() {
    let stage = Stage::new();
    drop(stage.open());
    // As if the second step and those behind it had never been, but something stands where it wants to build.
    stage.edit(
        "DROP TABLE last_yes; DROP TABLE remembered; DROP TABLE keys; DROP TABLE heads; DROP TABLE audit;
         CREATE TABLE heads (x); PRAGMA user_version = 1",
    );
    assert!(Store::open(&stage.folder, options()).is_err());
    assert_eq!(stage.number("PRAGMA user_version"), 1);
    assert_eq!(stage.number("SELECT count(*) FROM sqlite_schema WHERE name = 'audit'"), 0);
    stage.edit("DROP TABLE heads");
    drop(stage.open());
}

#[test]
fn what_somebody_put_into_the_schema_runs_nothing() {
    let stage = used();
    stage.edit(
        "CREATE TRIGGER eat AFTER INSERT ON audit BEGIN DELETE FROM audit; END;
         CREATE TRIGGER drop_tools AFTER INSERT ON audit BEGIN DELETE FROM tools; END;",
    );
    on(async {
        let store = stage.open();
        append(&store, 9..12).await;
        assert!(verify(&store).await.is_proven());
        assert_eq!(store.read(tool_count).await, Ok(1));
    });
}

#[test]
fn a_reader_cannot_write() {
    let stage = used();
    let store = stage.open();
    let refused = on(store.read(|view| Ok(view.connection.execute("DELETE FROM audit", []).is_err())));
    assert_eq!(refused, Ok(true));
}
