//! Folders and files of the host inside of a sandbox.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bailiwick_sandbox::{Held, Mount, SandboxError};
use bailiwick_testkit::{requires, tests};
use bailiwick_types::ErrorCode;

use crate::place::{Place, is_root, path, said, sh, shell, spec, wait};

tests!(
    a_folder_can_be_read_and_not_written_to,
    a_writable_folder_is_the_hosts,
    a_file_can_be_mounted_alone,
    a_mount_may_lie_in_a_folder_of_its_own,
    what_is_no_folder_or_file_or_behind_a_link_is_refused,
    what_is_mounted_gives_no_privileges,
);

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

fn a_folder_can_be_read_and_not_written_to() {
    let place = Place::new();
    let folder = folder(&place, "in");
    std::fs::write(folder.join("note"), "hello").expect("a file");
    wait(async {
        let mut spec = spec();
        spec.mounts = vec![mount(&folder, "/data", false)];
        let sandbox = place.create(spec).await.expect("a sandbox");
        assert_eq!(sh(sandbox.as_ref(), "cat /data/note").await, "hello");
        let result = sandbox.exec(shell("echo x > /data/other; echo x >> /data/note")).await.expect("an end");
        assert_ne!(result.exit.status(), 0);
    });
    assert!(!folder.join("other").exists());
    assert_eq!(std::fs::read_to_string(folder.join("note")).expect("a file"), "hello");
}

fn a_writable_folder_is_the_hosts() {
    let place = Place::new();
    let folder = folder(&place, "out");
    wait(async {
        let mut spec = spec();
        spec.mounts = vec![mount(&folder, "/out", true)];
        spec.workdir = path("/out");
        let sandbox = place.create(spec).await.expect("a sandbox");
        let made =
            sh(sandbox.as_ref(), "echo made > note; mkdir deep; echo more > deep/er; stat -c %U note").await;
        assert_eq!(made, "sandbox\n");
    });
    assert_eq!(std::fs::read_to_string(folder.join("note")).expect("a file"), "made\n");
    // What was made belongs to whoever owns the folder.
    let owner = |path: PathBuf| std::fs::metadata(path).expect("a file").uid();
    assert_eq!(owner(folder.join("note")), owner(folder.clone()));
}

fn a_file_can_be_mounted_alone() {
    let place = Place::new();
    let folder = folder(&place, "in");
    std::fs::write(folder.join("one"), "one").expect("a file");
    std::fs::write(folder.join("two"), "two").expect("a file");
    wait(async {
        let mut spec = spec();
        spec.mounts = vec![mount(&folder.join("one"), "/data/it", false)];
        let sandbox = place.create(spec).await.expect("a sandbox");
        assert_eq!(sh(sandbox.as_ref(), "cat /data/it; ls /data").await, "oneit\n");
    });
}

fn a_mount_may_lie_in_a_folder_of_its_own() {
    let place = Place::new();
    let folder = folder(&place, "in");
    std::fs::write(folder.join("note"), "hello").expect("a file");
    wait(async {
        let mut spec = spec();
        spec.mounts = vec![mount(&folder, "/work/data", false)];
        let sandbox = place.create(spec).await.expect("a sandbox");
        let result = sandbox.exec(shell("cat data/note; echo mine > mine; cat mine")).await.expect("it runs");
        assert_eq!(said(&result), "hellomine\n");
    });
}

fn what_is_no_folder_or_file_or_behind_a_link_is_refused() {
    let place = Place::new();
    let folder = folder(&place, "in").canonicalize().expect("a path");
    std::os::unix::fs::symlink("/etc", folder.join("link")).expect("a link");
    let refused = [
        ("link", "a symbolic link on the way"),
        ("link/passwd", "a symbolic link on the way"),
        ("nothing", "No such file"),
        ("/dev/null", "neither a file nor a folder"),
    ];
    for (from, why) in refused {
        let mount = Mount { from: folder.join(from), to: path("/data"), writable: false };
        let error = mount.open_by_name().expect_err("it is refused");
        assert!(matches!(error, SandboxError::Mount { .. }), "{from}: {error}");
        assert_eq!(error.code(), ErrorCode::FsDenied);
        assert!(error.to_string().contains(why), "{from}: {error}");
    }
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
