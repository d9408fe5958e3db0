//! Folders and files of the host inside of a sandbox.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Held, Mount};
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_root, path, shell, spec, wait};

tests!(what_is_mounted_gives_no_privileges,);

fn mount(from: &Path, to: &str, writable: bool) -> Held<Mount> {
    let from = from.canonicalize().expect("a path");
    Mount { from, to: path(to), writable }.open_by_name().expect("it is held")
}

/// A folder that everybody may look into.
fn folder(place: &Place, name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = place.path().join(name);
    std::fs::create_dir(&folder).expect("a folder");
    for open in [place.path(), &folder] {
        std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    folder
}

fn what_is_mounted_gives_no_privileges() {
    requires!("root", is_root());
    let place = Place::new();
    let folder = folder(&place, "out");
    wait(async {
        let mut spec = spec();
        spec.mounts = vec![mount(&folder, "/out", true)];
        let sandbox = place.create(spec).await.expect("a sandbox");
        let text = "cp /usr/bin/id /out/id; chmod u+s /out/id; chmod 4755 /out/id; ls /out";
        let result = sandbox.exec(shell(text)).await.expect("an end");
        let told = String::from_utf8_lossy(&result.stderr.bytes).into_owned();
        assert!(told.contains("Operation not permitted"), "{told}");
    });
    let made = std::fs::metadata(folder.join("id")).expect("a file");
    assert_eq!(made.mode() & 0o6000, 0, "nothing runs as its owner");
}
