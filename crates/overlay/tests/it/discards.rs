//! Dropping what a sandbox did.

use bailiwick_overlay::{Fault, Selection};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, changes, paths, short};

tests!(
    what_is_discarded_is_the_hosts_again,
    what_went_with_a_folder_comes_back_with_it,
    a_discard_of_what_is_not_there_drops_nothing,
);

fn what_is_discarded_is_the_hosts_again() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    let old = place.host_tree();
    place.inside("printf 3 >> a; rm more; rm -r d; mkdir d; printf 1 > d/n; chmod 000 d; mkdir -p n/m; printf 1 > n/m/o");
    let view = place.view();
    view.discard(&paths(&["more", "d"])).expect("discarded");
    assert_eq!(short(&changes(&view).changes), "M a, A n, A n/m, A n/m/o");
    view.discard(&paths(&["n", "n/m/o", "a"])).expect("discarded");
    assert_eq!(short(&changes(&view).changes), "");
    place.inside("true");
    assert_eq!(place.seen(), old, "the kernel sees it so, too");
    place.inside("rm -r d; printf 1 > a");
    view.discard(&Selection::All).expect("discarded");
    assert_eq!(short(&changes(&view).changes), "");
    assert_eq!(place.host_tree(), old);
}

fn what_went_with_a_folder_comes_back_with_it() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("rm -r d; mkdir d; printf 1 > d/n; rm -r z; printf 2 > z");
    let view = place.view();
    let result = view.discard(&paths(&["z", "d/e/f"]));
    assert!(
        matches!(&result, Err(Fault::Implied { folder, .. }) if *folder == place::path("d")),
        "{result:?}"
    );
    assert_eq!(
        short(&changes(&view).changes),
        "D d/e, D d/e/f, A d/n, D d/x, D d/y, T z",
        "nothing was dropped"
    );
    view.discard(&paths(&["d/n"])).expect("what is there can be dropped alone");
    view.discard(&paths(&["d"])).expect("discarded");
    assert_eq!(short(&changes(&view).changes), "T z");
}

fn a_discard_of_what_is_not_there_drops_nothing() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a");
    let view = place.view();
    for missing in ["b", "x/y", "a/b"] {
        assert!(view.discard(&paths(&["a", missing])).is_err(), "{missing}");
    }
    assert_eq!(short(&changes(&view).changes), "M a");
}
