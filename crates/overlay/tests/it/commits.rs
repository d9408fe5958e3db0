//! What a commit writes.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use bailiwick_overlay::{Commit, Fault, LinksOut, Selection};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, changes, commit, paths, refused, short};

tests!(
    a_commit_makes_the_folder_what_the_sandbox_saw,
    only_what_is_chosen_is_written,
    what_is_not_there_cannot_be_chosen,
    bits_that_lend_rights_are_dropped,
    what_is_written_belongs_to_whom_it_belonged,
    links_that_lead_out_are_refused,
    what_was_not_reviewed_is_not_written,
    a_second_commit_writes_only_what_is_new,
    a_file_of_many_names_keeps_the_others,
    nothing_is_left_beside,
);

const MUCH: &str = "printf 3 >> a; chmod 700 b; rm -r d; mkdir -p d/n; printf 1 > d/n/o; chmod 555 d/n
    rm more; mkdir more; printf q > more/q; rm l; ln -s d/n l; mv z y; ln a hard; : > empty; chmod 600 hard";

fn a_commit_makes_the_folder_what_the_sandbox_saw() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside(MUCH);
    let mut view = place.view();
    let before = changes(&view).changes.len();
    let done = commit(&mut view, &place, Selection::All).expect("a commit");
    assert_eq!(done.written.len(), before, "{done:?}");
    assert!(done.left.is_empty() && done.skipped.is_empty());
    assert_eq!(place.host_tree(), place.seen());
    assert_eq!(short(&changes(&view).changes), "", "nothing is left to do");
}

fn nothing_is_left_beside() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside(MUCH);
    let mut view = place.view();
    commit(&mut view, &place, Selection::All).expect("a commit");
    assert!(place::tree(&place.journals_path()).is_empty());
    assert!(place.host_tree().keys().all(|name| !name.contains("bailiwick")));
}

fn only_what_is_chosen_is_written() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; rm more; mkdir n; printf 1 > n/o; printf 1 > n/p; rm -r d");
    let before = place.host_tree();
    let mut view = place.view();
    commit(&mut view, &place, paths(&["n/o", "d/e"])).expect("a commit");
    let mut expected = before;
    let seen = place.seen();
    for name in ["n", "n/o"] {
        expected.insert(name.to_owned(), seen[name].clone());
    }
    expected.retain(|name, _| !name.starts_with("d/e"));
    assert_eq!(place.host_tree(), expected);
    assert_eq!(short(&changes(&view).changes), "M a, D d, D d/x, D d/y, D more, A n/p");
    commit(&mut view, &place, Selection::All).expect("the rest");
    assert_eq!(place.host_tree(), seen);
}

fn what_is_not_there_cannot_be_chosen() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a");
    let before = place.host_tree();
    let mut view = place.view();
    let result = commit(&mut view, &place, paths(&["a", "b"]));
    assert!(matches!(&result, Err(Fault::NoSuchChange { path }) if *path == place::path("b")), "{result:?}");
    assert_eq!(place.host_tree(), before);
}

fn bits_that_lend_rights_are_dropped() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::new("printf 1 > a; mkdir d; chmod 2770 d");
    place.inside(
        "printf 2 > n; chmod 6755 n; printf 2 >> a; chmod 4711 a; chmod 1755 d; mkdir s; chmod 3777 s",
    );
    let mut view = place.view();
    commit(&mut view, &place, Selection::All).expect("a commit");
    let mode =
        |name| std::fs::metadata(place.lower().join(name)).expect("there").permissions().mode() & 0o7777;
    assert_eq!(mode("n"), 0o755);
    assert_eq!(mode("a"), 0o711);
    assert_eq!(mode("s"), 0o777);
    assert_eq!(mode("d"), 0o2755, "the host's own bit of a folder stays, and the sandbox's does not come");
}

fn what_is_written_belongs_to_whom_it_belonged() {
    requires!("overlayfs", place::is_possible());
    requires!("root", rustix::process::geteuid().is_root());
    let mut place = Place::new("printf 1 > a; printf 1 > b; mkdir d; chown 1234:2345 a; chown 1111:2222 d");
    // Owners that a namespace does not know cannot be written to there: what the kernel would write is put by hand.
    place.begin();
    place::shell(
        &place.upper(),
        "printf 2 > a; printf 2 > b; mkdir -p d/n; printf 2 > d/n/o; ln -s x d/l; chown -R 77:77 .",
    );
    let mut view = place.view();
    commit(&mut view, &place, Selection::All).expect("a commit");
    let owner = |name| {
        let data = std::fs::symlink_metadata(place.lower().join(name)).expect("there");
        (data.uid(), data.gid())
    };
    assert_eq!(owner("a"), (1234, 2345));
    assert_eq!(owner("b"), (0, 0));
    for name in ["d", "d/n", "d/n/o", "d/l"] {
        assert_eq!(owner(name), (1111, 2222), "{name}");
    }
}

fn links_that_lead_out_are_refused() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("ln -s /etc/passwd one; ln -s ../x two; ln -s ../a d/fine; ln -s ../../x d/three; ln -s z/.. four; printf 3 >> a");
    let before = place::stamps(&place.lower());
    let mut view = place.view();
    let strict = Commit::default();
    let result = view.commit(&strict, &place.journals(), &mut ());
    assert_eq!(refused(result), "d/three [LeadsOut], four [LeadsOut], one [LeadsOut], two [LeadsOut]");
    assert_eq!(place::stamps(&place.lower()), before, "nothing at all is written");
    let some = Commit { selection: paths(&["d", "a"]), ..Commit::default() };
    assert_eq!(refused(view.commit(&some, &place.journals(), &mut ())), "d/three [LeadsOut]");
    let allowed = Commit { links_out: LinksOut::Write, ..Commit::default() };
    view.commit(&allowed, &place.journals(), &mut ()).expect("a commit");
    assert_eq!(place.host_tree(), place.seen());
}

fn what_was_not_reviewed_is_not_written() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; printf 4 > n; rm more");
    let mut view = place.view();
    let reviewed = changes(&view).reviewed();
    place.inside("printf x >> n; printf 5 > later");
    let with = Commit { reviewed: Some(&reviewed), ..Commit::default() };
    assert_eq!(
        refused(view.commit(&with, &place.journals(), &mut ())),
        "later [NotReviewed], n [NotReviewed]"
    );
    let some = Commit { selection: paths(&["a", "more"]), ..with };
    view.commit(&some, &place.journals(), &mut ()).expect("what was reviewed");
    assert_eq!(short(&changes(&view).changes), "A later, A n");
}

fn a_second_commit_writes_only_what_is_new() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; mkdir n; rm more; rm -r d/e");
    let mut view = place.view();
    commit(&mut view, &place, Selection::All).expect("the first");
    assert_eq!(short(&changes(&view).changes), "");
    place.inside("printf 4 >> a; printf 1 > n/o; printf 1 > d/new; printf 1 > more; rm -r z");
    assert_eq!(short(&changes(&view).changes), "M a, A d/new, A more, A n/o, D z");
    commit(&mut view, &place, Selection::All).expect("the second: our own writes are no conflict");
    assert_eq!(place.host_tree(), place.seen());
    place.on_the_host("printf host > a");
    place.inside("printf 5 >> a");
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "a [HostChanged]");
}

fn a_file_of_many_names_keeps_the_others() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::new("printf 1 > a; ln a b; ln a c; ln a d; ln a outside");
    place.inside("printf 2 > a; rm b; chmod 600 c; chmod 640 d");
    let mut view = place.view();
    assert_eq!(short(&changes(&view).changes), "M a, D b, m c, m d");
    commit(&mut view, &place, Selection::All).expect("a commit");
    assert_eq!(place.host_tree(), place.seen());
    assert_eq!(place.host_tree()["outside"], ('f', 0o644, b"1".to_vec()));
}
