//! What is found of what the kernel wrote.

use bailiwick_overlay::{Bound, Bounds, Kind, Selection};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, changes, paths, short};

tests!(
    the_kernels_marks_are_read,
    looking_touches_nothing,
    only_what_is_chosen_is_listed,
    looking_is_bounded,
    a_folder_of_many_files_is_not_walked,
);

#[track_caller]
fn check(script: &str, expected: &str) {
    let mut place = Place::usual();
    place.inside(script);
    let view = place.view();
    let found = changes(&view);
    assert_eq!(short(&found.changes), expected, "after `{script}`");
    assert!(found.left_out.is_none() && found.skipped.is_empty(), "{found:?}");
    assert!(found.changes.iter().all(|change| change.findings.is_empty()), "{found:?}");
}

fn the_kernels_marks_are_read() {
    requires!("overlayfs", place::is_possible());
    check("true", "");
    check("printf three >> a", "M a");
    check("touch a d", "");
    check("printf 'one\\ntwo\\n' > a", "");
    check("chmod 600 a; chmod 700 d", "m a, m d");
    check("chmod 4755 a", "m a");
    check("rm a", "D a");
    check("rm a; printf 'one\\ntwo\\n' > a", "");
    check("rm a; mkdir a; printf n > a/n", "T a, A a/n");
    check("rm -r d; printf n > d", "T d, D d/e, D d/e/f, D d/x, D d/y");
    check("rm -r d", "D d, D d/e, D d/e/f, D d/x, D d/y");
    check("rm -r d; mkdir d", "D d/e, D d/e/f, D d/x, D d/y");
    check("rm -r d; mkdir d; printf x > d/x; printf q > d/q", "D d/e, D d/e/f, A d/q, D d/y");
    check("rm -r d; mkdir -p d/e; printf deep > d/e/f", "D d/x, D d/y");
    check("rm -r d; mkdir -p d/e", "D d/e/f, D d/x, D d/y");
    check(
        "mv d moved",
        "D d, D d/e, D d/e/f, D d/x, D d/y, A moved, A moved/e, A moved/e/f, A moved/x, A moved/y",
    );
    check("mv a z/a", "D a, A z/a");
    check("ln a hard; printf 3 >> hard", "M a, A hard");
    check("rm l; ln -s b l", "M l");
    check("rm l; cp a l", "T l");
    check("rm a; ln -s l a", "T a");
    check("mkdir -p n/m; printf 1 > n/m/o; rm -r n", "");
    check("rmdir z; mkdir z; chmod 711 z", "m z");
    check("mkdir 'a b'; printf 1 > 'a-b'", "A a b, A a-b");
}

fn looking_touches_nothing() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    let before = place::stamps(&place.lower());
    place.inside("printf 3 >> a; rm -r d; mkdir d; chmod 700 b; mv more z/; ln -s a n");
    let upper = place::stamps(&place.upper());
    let view = place.view();
    let found = changes(&view);
    view.diff(&found, bailiwick_overlay::DiffBounds::default()).expect("a diff");
    assert_eq!(place::stamps(&place.lower()), before);
    assert_eq!(place::stamps(&place.upper()), upper);
}

fn only_what_is_chosen_is_listed() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; rm -r d; mkdir -p n/m; printf 1 > n/m/o; printf 2 > n/p; chmod 700 z; printf 1 > z/q; rm more; mkdir more; printf 1 > more/q");
    let view = place.view();
    let chosen =
        |all: &[&str]| short(&view.changes(&paths(all), Bounds::default()).expect("changes").changes);
    assert_eq!(chosen(&["a"]), "M a");
    assert_eq!(chosen(&["d/e"]), "D d/e, D d/e/f");
    assert_eq!(chosen(&["n/m/o"]), "A n, A n/m, A n/m/o", "what it needs comes along");
    assert_eq!(chosen(&["z/q"]), "A z/q", "what it does not need stays");
    assert_eq!(chosen(&["z"]), "m z, A z/q");
    assert_eq!(chosen(&["more/q"]), "T more, A more/q");
    assert_eq!(chosen(&["b", "nothing"]), "");
}

fn looking_is_bounded() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("for i in 1 2 3 4 5 6 7 8; do printf 123456789 > n$i; done; mkdir -p q/q/q/q/q");
    let view = place.view();
    let with = |bounds| view.changes(&Selection::All, bounds).expect("changes");
    let few = with(Bounds { entries: 4, ..Bounds::default() });
    assert_eq!(few.left_out, Some(Bound::Entries(4)));
    assert!(few.changes.len() <= 4);
    let short = with(Bounds { paths: 8, ..Bounds::default() });
    assert_eq!(short.left_out, Some(Bound::Paths(8)));
    let flat = with(Bounds { depth: 3, ..Bounds::default() });
    assert_eq!(flat.skipped.len(), 1, "{:?}", flat.skipped);
    let unread = with(Bounds { read: 20, ..Bounds::default() });
    let files = || {
        unread
            .changes
            .iter()
            .filter_map(|change| change.after.as_ref())
            .filter(|node| node.kind == Kind::File)
    };
    assert_eq!(
        files().filter(|node| node.sha256.is_some()).count(),
        2,
        "two files of nine bytes fit into twenty"
    );
    assert_eq!(files().count(), 8);
}

fn a_folder_of_many_files_is_not_walked() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::new("mkdir d; cd d; i=0; while [ $i -lt 3000 ]; do : > $i; i=$((i+1)); done");
    place.inside("printf 1 > d/7; printf 1 > n");
    let view = place.view();
    // More than three entries would be more than the bound.
    let found = view.changes(&Selection::All, Bounds { entries: 3, ..Bounds::default() }).expect("changes");
    assert_eq!(short(&found.changes), "M d/7, A n");
    assert!(found.left_out.is_none());
}
