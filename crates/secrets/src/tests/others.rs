//! Other users of the machine: whatever they could read or write is refused, and what is made is closed to them.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::{Machine, at, named, secret};
use crate::{Fallback, Secrets, SecretsError};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_is_made_is_for_its_owner_alone() {
    let machine = Machine::new();
    let data = machine.folder.path().join("deep/data");
    let secrets = Secrets::open(&data, Fallback::none()).unwrap();
    secrets.set(&named("A"), &secret("value"), at(0)).unwrap();
    secrets.rotate_key().unwrap();
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("secrets")), 0o700);
    assert_eq!(mode(&data.join("secrets/store")), 0o600);
    assert_eq!(mode(&data.join("secrets.key")), 0o600);
}

#[test]
fn what_others_can_read_or_write_is_refused_with_the_command_to_run() {
    let machine = Machine::with_three();
    let (store, key) = (machine.store(), machine.key());
    let (folder, data) = (store.parent().unwrap(), machine.folder.path());
    for (path, bad, good, fix) in [
        (store.as_path(), 0o640, 0o600, "go="),
        (&store, 0o604, 0o600, "go="),
        (&store, 0o620, 0o600, "go="),
        (&store, 0o602, 0o600, "go="),
        (&store, 0o601, 0o600, "go="),
        (&key, 0o640, 0o600, "go="),
        (&key, 0o644, 0o600, "go="),
        (folder, 0o750, 0o700, "go="),
        (folder, 0o701, 0o700, "go="),
        (data, 0o720, 0o700, "go-w"),
        (data, 0o777, 0o755, "go-w"),
    ] {
        chmod(path, bad);
        let error = machine.values().unwrap_err();
        assert!(matches!(error, SecretsError::NotPrivate { mode, .. } if mode == bad), "{bad:o}: {error}");
        let hint = error.hint().unwrap();
        assert!(hint.starts_with(&format!("chmod {fix} {}", path.display())), "{hint}");
        chmod(path, good);
        machine.check_three();
    }
    chmod(data, 0o1777);
    machine.check_three();
}

#[test]
fn a_link_in_the_place_of_a_file_or_the_folder_is_refused() {
    for what in ["secrets/store", "secrets.key", "secrets"] {
        let machine = Machine::with_three();
        let path = machine.folder.path().join(what);
        let elsewhere = machine.folder.path().join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let error = machine.values().unwrap_err();
        assert!(matches!(error, SecretsError::WrongKind { .. }), "{what}: {error}");
        std::fs::remove_file(&path).unwrap();
        symlink("/nowhere", &path).unwrap();
        let error = machine.values().unwrap_err();
        assert!(matches!(error, SecretsError::WrongKind { .. }), "{what}: {error}");
    }
}

#[test]
fn a_link_in_the_place_of_the_file_on_the_way_is_not_written_through() {
    let machine = Machine::with_three();
    let victim = machine.folder.path().join("victim");
    super::overwrite(&victim, b"mine");
    symlink(&victim, machine.store().with_extension("new")).unwrap();
    machine.open().unwrap().set(&named("C"), &secret("pässwörd☂"), at(3)).unwrap();
    assert_eq!(super::bytes_of(&victim), b"mine");
    assert!(!machine.store().is_symlink());
    machine.check_three();
}

#[test]
fn a_folder_or_a_pipe_in_the_place_of_a_file_is_refused_at_once() {
    let machine = Machine::with_three();
    std::fs::remove_file(machine.store()).unwrap();
    std::fs::create_dir(machine.store()).unwrap();
    assert!(matches!(machine.values(), Err(SecretsError::WrongKind { .. })));
    std::fs::remove_dir(machine.store()).unwrap();
    let all = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, machine.store(), rustix::fs::FileType::Fifo, all, 0).unwrap();
    assert!(matches!(machine.values(), Err(SecretsError::WrongKind { .. })));
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    // Only root can give a file away; everybody else has root's files to look at.
    let machine = Machine::with_three();
    if rustix::process::geteuid().is_root() {
        let other = Some(rustix::fs::Uid::from_raw(65_534));
        rustix::fs::chown(machine.store(), other, None).unwrap();
        let error = machine.values().unwrap_err();
        assert!(matches!(error, SecretsError::ForeignOwner { .. }), "{error}");
        rustix::fs::chown(machine.folder.path(), other, None).unwrap();
        let error = machine.values().unwrap_err();
        assert!(matches!(error, SecretsError::ForeignOwner { .. }), "{error}");
    } else {
        let error = crate::private::Folder::open(Path::new("/etc"), crate::private::Others::Nothing);
        assert!(matches!(error, Err(SecretsError::ForeignOwner { .. })), "{error:?}");
    }
}
