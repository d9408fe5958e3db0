//! Staged names: what they show, and what is left of them.

use bailiwick_sandbox::{Held, Mount, SandboxPath};

use super::{Below, Staged, clear, sweep_in};

fn held(from: &std::path::Path, writable: bool) -> Held<Mount> {
    let mount = Mount { from: from.to_owned(), to: SandboxPath::work(), writable };
    mount.open_by_name().expect("it is held")
}

fn is_root() -> bool {
    bailiwick_sys::privileges::identity().0 == 0
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn a_staged_name_is_the_held_file_and_goes_without_its_files() {
    if !is_root() {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let top = place.path().canonicalize().expect("a path");
    std::fs::create_dir_all(top.join("held/sub")).expect("a directory");
    std::fs::write(top.join("held/file"), "inside").expect("a file");
    let mounts = [held(&top.join("held"), true), held(&top.join("held/file"), false)];
    // What has the name by now is not what is staged.
    std::fs::rename(top.join("held"), top.join("moved")).expect("a rename");
    std::os::unix::fs::symlink("/etc", top.join("held")).expect("a link");
    let all = top.join("staged");
    let Ok(staged) = Staged::stage(&all, &mounts, Below::Left) else {
        // A root that may not mount.
        return;
    };
    let [directory, file] = staged.names() else { panic!("{staged:?}") };
    assert_eq!(std::fs::read_to_string(directory.join("file")).expect("it is there"), "inside");
    assert_eq!(std::fs::read_to_string(file).expect("it is there"), "inside");
    std::fs::write(directory.join("new"), "written").expect("it can be written to");
    assert!(std::fs::write(file, "changed").is_err(), "it is read-only");
    drop(staged);
    assert_eq!(std::fs::read_dir(&all).expect("a directory").count(), 0, "no name is left");
    for name in ["file", "new", "sub"] {
        assert!(top.join("moved").join(name).exists(), "{name} is still on the host");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn a_sweep_unmounts_what_a_killed_owner_left_and_removes_no_file_of_the_host() {
    if !is_root() {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let top = place.path().canonicalize().expect("a path");
    std::fs::create_dir_all(top.join("held")).expect("a directory");
    std::fs::write(top.join("held/file"), "inside").expect("a file");
    let all = top.join("staged");
    let Ok(mut staged) = Staged::stage(&all, &[held(&top.join("held"), true)], Below::Included) else {
        return;
    };
    let own = staged.directory.take().expect("a directory");
    sweep_in(&all);
    assert!(own.join("0/file").exists(), "its owner lives");
    // Process 1 was not started at tick 1.
    let left = all.join("bailiwick-sandbox-1-1-0");
    std::fs::rename(&own, &left).expect("a rename");
    sweep_in(&all);
    assert!(!left.exists());
    assert_eq!(std::fs::read_to_string(top.join("held/file")).expect("it is there"), "inside");
    clear(&all);
}

#[test]
fn without_a_staged_name_what_a_guest_may_exchange_is_refused() {
    let usr = held(std::path::Path::new("/usr"), false);
    let unstaged =
        Staged::by_their_names(std::slice::from_ref(&usr), "only root can mount").expect("its own name");
    assert_eq!(unstaged.names(), [std::path::PathBuf::from("/usr")]);
    let refused =
        Staged::by_their_names(&[usr.named_by_guests(true)], "only root can mount").expect_err("a refusal");
    for part in ["a sandbox may write to a directory that it lies in", "only root can mount"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
}
