//! The same as an ordinary user: this program again, as nobody.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use bailiwick_overlay::Selection;
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, commit, refused};

tests!(
    an_ordinary_user_reviews_and_commits_too,
    what_our_rights_do_not_allow_is_found_before,
    a_folder_that_can_only_be_read_is_found_before,
);

/// Tests that have to pass for an ordinary user too.
const TOO: &[&str] = &[
    "commits::a_commit_makes_the_folder_what_the_sandbox_saw",
    "commits::a_file_of_many_names_keeps_the_others",
    "commits::only_what_is_chosen_is_written",
    "discards::what_is_discarded_is_the_hosts_again",
    "found::the_kernels_marks_are_read",
    "hostile::pipes_and_sockets_are_never_opened",
    "kills::a_commit_that_is_killed_anywhere_is_done_or_undone",
    "ordinary::what_our_rights_do_not_allow_is_found_before",
];

fn an_ordinary_user_reviews_and_commits_too() {
    requires!("root", rustix::process::geteuid().is_root());
    requires!("setpriv", Command::new("setpriv").arg("--version").output().is_ok());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("permissions");
    let program = folder.path().join("it");
    std::fs::copy("/proc/self/exe", &program).expect("a copy");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    for name in TOO {
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(["--exact", name])
            .env("TMPDIR", folder.path())
            .env("HOME", folder.path())
            .env_remove("BAILIWICK_REQUIRE")
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{name}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed"), "{name}: {text}");
    }
}

fn what_our_rights_do_not_allow_is_found_before() {
    // Root may do all of it.
    requires!("an ordinary user", !rustix::process::geteuid().is_root());
    let mut place = Place::usual();
    place.on_the_host("chmod 555 d");
    place.begin();
    place::shell(
        &place.upper(),
        "mkdir d; printf 1 > d/n; chmod 555 d; mkdir secret; chmod 000 secret; printf 1 > n",
    );
    let before = place::stamps(&place.lower());
    let mut view = place.view();
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "d/n [NotWritable]");
    assert_eq!(place::stamps(&place.lower()), before);
    let done = commit(&mut view, &place, place::paths(&["n", "secret"]));
    assert!(matches!(done, Err(bailiwick_overlay::Fault::NoSuchChange { .. })), "{done:?}");
    let done = commit(&mut view, &place, place::paths(&["n"])).expect("the others");
    assert!(done.left.is_empty());
}

fn a_folder_that_can_only_be_read_is_found_before() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; chmod 700 b");
    let script = "mount --bind . . && mount -o remount,bind,ro . && cd . && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(place::way().expect("overlayfs")).args(["--", "sh", "-c", script, "mount"]);
    command.args(crate::kills::words(&mut place, "commit", u32::MAX)).current_dir(place.lower());
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.matches("findings: [NotWritable]").count(), 2, "{text}");
    assert!(place::tree(&place.journals_path()).is_empty(), "no journal waits for what can never be written");
}
