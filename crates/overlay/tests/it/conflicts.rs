//! What the host did meanwhile, and what a commit does about it.

use std::sync::atomic::AtomicBool;

use bailiwick_overlay::{Host, Names, Selection, Steps, View};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, changes, commit, paths, refused};

tests!(
    what_the_host_changed_meanwhile_is_a_conflict,
    what_is_not_known_is_a_conflict,
    names_that_were_read_tell_apart,
    names_are_sure_only_where_nothing_changed,
    a_conflict_stops_everything_but_others_can_be_chosen,
    who_comes_between_check_and_write_is_not_written_over,
    what_takes_the_place_of_a_file_does_not_get_its_new_mode,
    who_comes_while_staging_stops_everything,
    what_came_out_is_given_back_after_a_crash_too,
    what_somebody_writes_right_after_us_is_not_ours,
);

/// A view that knows the names which were there.
fn knowing(place: &mut Place) -> View {
    let began = place.begin();
    let host = Host::open(&place.lower()).expect("the folder");
    let names = Names::scan(&host, began, 1000, &AtomicBool::new(false)).expect("names");
    let mut view = place.view();
    view.know(names);
    view
}

#[track_caller]
fn check(meanwhile: &str, inside: &str, expected: &str) {
    let mut place = Place::usual();
    let mut view = knowing(&mut place);
    place.inside(inside);
    place.on_the_host(meanwhile);
    let before = place::stamps(&place.lower());
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), expected, "`{inside}` and `{meanwhile}`");
    assert_eq!(place::stamps(&place.lower()), before, "nothing is written");
    assert!(place::tree(&place.journals_path()).is_empty(), "no journal is left");
}

fn what_the_host_changed_meanwhile_is_a_conflict() {
    requires!("overlayfs", place::is_possible());
    check("printf h >> a", "printf 3 >> a", "a [HostChanged]");
    check("printf h > a", "printf 3 >> a", "a [HostChanged]");
    check("chmod 600 a", "printf 3 >> a", "a [HostChanged]");
    check("printf h > t; touch -d '2001-01-01' t; mv t a", "printf 3 >> a", "a [HostChanged]");
    check("printf h >> a", "rm a", "a [HostChanged]");
    check("printf h > n", "printf 3 > n", "n [HostAdded]");
    check("mkdir n; printf h > n/h", "printf 3 > n", "n [HostAdded], n/h [HostChanged]");
    check("rm a", "printf 3 >> a", "a [HostGone]");
    check("rm a", "rm a", "a [HostGone]");
    check("rm -r d", "printf 3 >> d/x", "d [HostGone]");
    check("printf h > d/h", "rm -r d", "d [HostChanged], d/h [HostAdded]");
    check("printf h >> d/e/f", "rm -r d", "d/e/f [HostChanged]");
    check("mv d/e d/g", "rm -r d", "d [HostChanged], d/g [HostAdded]");
    check("rm -r d; ln -s z d", "printf 3 >> d/x", "d [HostChanged]");
    check("rm a; mkdir a", "printf 3 >> a", "a [HostChanged]");
    check("rm l; ln -s b l", "rm l; ln -s more l", "l [HostChanged]");
    check("chmod 700 d", "chmod 711 d", "d [HostChanged]");
    check("printf h > t; mv t z/t", "rmdir z; printf 1 > z", "z [HostChanged], z/t [HostAdded]");
}

fn what_is_not_known_is_a_conflict() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> d/x; printf 4 > d/new; printf 5 > z/new");
    place.on_the_host("rm d/x");
    let mut view = place.view();
    // Without names nobody can tell which of the two was there.
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "d/new [Unknown], d/x [Unknown]");
    commit(&mut view, &place, paths(&["z"])).expect("a folder that did not change");
}

fn names_that_were_read_tell_apart() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    let mut view = knowing(&mut place);
    place.inside("printf 3 >> d/x; printf 4 > d/new; printf 5 > z/new");
    place.on_the_host("rm d/x; printf h > d/other");
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "d/x [HostGone]");
    commit(&mut view, &place, paths(&["d/new", "z"])).expect("what is new");
    assert_eq!(place.host_tree()["d/other"], ('f', 0o644, b"h".to_vec()));
}

fn names_are_sure_only_where_nothing_changed() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    let began = place.begin();
    // Between the begin and the reading of names, which comes too late for this folder.
    place.on_the_host("rm d/x");
    let host = Host::open(&place.lower()).expect("the folder");
    let names = Names::scan(&host, began, 1000, &AtomicBool::new(false)).expect("names");
    assert_eq!(names.len(), 9);
    let mut view = place.view();
    view.know(names);
    place::shell(&place.upper(), "mkdir d; printf 3 > d/x; printf 4 > new");
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "d/x [Unknown]");
    let few = Names::scan(&host, began, 2, &AtomicBool::new(false)).expect("names");
    assert_eq!(few.len(), 2);
    assert!(Names::scan(&host, began, 1000, &AtomicBool::new(true)).expect("names").is_empty());
}

fn a_conflict_stops_everything_but_others_can_be_chosen() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; printf 3 >> b; rm more");
    place.on_the_host("printf h >> a");
    let mut view = place.view();
    let listed = changes(&view);
    assert_eq!(listed.changes[0].findings.len(), 1, "a reviewer sees it before");
    let before = place.host_tree();
    refused(commit(&mut view, &place, Selection::All));
    assert_eq!(place.host_tree(), before);
    commit(&mut view, &place, paths(&["b", "more"])).expect("the others");
    assert_eq!(place.host_tree()["a"].2, b"one\ntwo\nh");
    assert!(!place.host_tree().contains_key("more"));
}

/// Does something to the host's folder when a step is reached for the nth time.
struct Meanwhile<'a> {
    place: &'a Place,
    at: (&'static str, usize),
    script: &'static str,
}

impl Steps for Meanwhile<'_> {
    fn reached(&mut self, step: &'static str) {
        if step == self.at.0 {
            if self.at.1 == 0 {
                self.place.on_the_host(self.script);
            }
            self.at.1 = self.at.1.wrapping_sub(1);
        }
    }
}

fn who_comes_between_check_and_write_is_not_written_over() {
    requires!("overlayfs", place::is_possible());
    for (script, at) in [
        ("printf host > a", ("take the place", 0)),
        ("rm -f new; printf host > new", ("take the place", 1)),
        ("printf host > t; mv t a", ("write a piece beside its place", 0)),
        ("rm a; mkdir a; printf host > a/h", ("take the place", 0)),
        ("rm a; ln -s b a", ("take the place", 0)),
        ("printf host > a", ("change places", 0)),
        ("printf host > t; mv t a", ("change places", 0)),
        ("printf hosthost > t; touch -r a t; mv t a", ("change places", 0)),
        ("rm a; mkdir a; printf host > a/h", ("change places", 0)),
        ("rm -f new; printf host > new", ("change places", 1)),
        ("printf host > d/x", ("begin a step", 1)),
        ("printf host > t; mv t d/x", ("begin a step", 1)),
        ("rm d/x; mkdir d/x; printf host > d/x/h", ("begin a step", 1)),
        ("printf host > d/x", ("mark the journal ready", 0)),
        ("printf host > d/h", ("mark the journal ready", 0)),
        ("mkdir folder; printf host > folder/h", ("mark the journal ready", 0)),
    ] {
        let mut place = Place::usual();
        place.inside("printf 3 >> a; printf 3 > new; printf 3 >> z/o; rm -r d; mkdir folder");
        let mut view = place.view();
        let mut meanwhile = Meanwhile { place: &place, at, script };
        let commit = bailiwick_overlay::Commit::default();
        let done = view.commit(&commit, &place.journals(), &mut meanwhile).expect("the others are written");
        assert!(!done.left.is_empty(), "after `{script}`: {done:?}");
        let tree = place.host_tree();
        assert!(
            tree.values().any(|(_, _, bytes)| bytes.starts_with(b"host")) || script.contains("ln -s"),
            "`{script}`: {tree:?}"
        );
        assert_eq!(tree["z/o"].2, b"3");
        assert_eq!(tree["b"].2, b"run\n", "no link was followed");
        assert!(tree.keys().all(|name| !name.contains("bailiwick")), "{tree:?}");
        assert!(place::tree(&place.journals_path()).is_empty());
    }
}

/// Does something at one step, and ends what runs at another, as a kill would.
struct Ended<'a> {
    meanwhile: Meanwhile<'a>,
    at: (&'static str, usize),
}

impl Steps for Ended<'_> {
    fn reached(&mut self, step: &'static str) {
        self.meanwhile.reached(step);
        if step == self.at.0 {
            assert!(self.at.1 > 0, "ended here");
            self.at.1 -= 1;
        }
    }
}

fn what_came_out_is_given_back_after_a_crash_too() {
    requires!("overlayfs", place::is_possible());
    for (script, at, end) in [
        ("printf host > a", ("change places", 0), ("look at what came out", 0)),
        ("printf host > t; mv t a", ("change places", 0), ("look at what came out", 0)),
        ("rm a; mkdir a; printf host > a/h", ("change places", 0), ("look at what came out", 0)),
        ("printf host > d/y", ("begin a step", 0), ("look at what is set aside", 0)),
        ("rm d/y; mkdir d/y; printf host > d/y/h", ("begin a step", 0), ("look at what is set aside", 0)),
    ] {
        let mut place = Place::usual();
        place.inside("printf 3 >> a; rm -r d; printf 3 >> z/o");
        let mut view = place.view();
        let mut steps = Ended { meanwhile: Meanwhile { place: &place, at, script }, at: end };
        let commit = bailiwick_overlay::Commit::default();
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            view.commit(&commit, &place.journals(), &mut steps)
        }));
        assert!(ended.is_err(), "`{script}`: it is ended in the middle");
        let recovered = bailiwick_overlay::recover(&place.journals(), &mut ()).expect("recovered");
        let [
            bailiwick_overlay::Recovered {
                ended: bailiwick_overlay::Ended::RolledForward { left, .. }, ..
            },
        ] = recovered.as_slice()
        else {
            panic!("`{script}`: {recovered:?}");
        };
        assert!(!left.is_empty(), "`{script}`");
        let tree = place.host_tree();
        assert!(tree.values().any(|(_, _, bytes)| bytes == b"host"), "`{script}`: {tree:?}");
        assert_eq!(tree["z/o"].2, b"3");
        assert!(tree.keys().all(|name| !name.contains("bailiwick")), "{tree:?}");
    }
}

fn what_takes_the_place_of_a_file_does_not_get_its_new_mode() {
    requires!("overlayfs", place::is_possible());
    for (inside, script, path) in [
        ("chmod 666 a", "printf host > t; chmod 600 t; mv t a", "a"),
        ("chmod 777 d", "mkdir t; chmod 600 t; mv d gone; mv t d", "d"),
    ] {
        let mut place = Place::usual();
        place.inside(inside);
        let mut view = place.view();
        let mut meanwhile = Meanwhile { place: &place, at: ("begin a step", 0), script };
        let commit = bailiwick_overlay::Commit::default();
        let done = view.commit(&commit, &place.journals(), &mut meanwhile).expect("nothing else");
        let left: Vec<String> = done.left.iter().map(|left| left.path.to_string()).collect();
        assert_eq!((left, done.written), (vec![path.to_owned()], Vec::new()), "`{inside}` and `{script}`");
        assert_eq!(format!("{:o}", place.host_tree()[path].1 & 0o777), "600", "`{inside}` and `{script}`");
    }
}

fn who_comes_while_staging_stops_everything() {
    requires!("overlayfs", place::is_possible());
    for script in ["printf host > a", "printf host > new", "rm d/x"] {
        let mut place = Place::usual();
        place.inside("printf 3 >> a; printf 3 > new; rm -r d");
        let mut view = place.view();
        let mut meanwhile = Meanwhile { place: &place, at: ("write the plan", 0), script };
        let commit = bailiwick_overlay::Commit::default();
        refused(view.commit(&commit, &place.journals(), &mut meanwhile));
        let tree = place.host_tree();
        assert!(tree.contains_key("d/y") && tree.get("a").is_some_and(|a| !a.2.ends_with(b"3")), "{tree:?}");
        assert!(place::tree(&place.journals_path()).is_empty());
    }
}

fn what_somebody_writes_right_after_us_is_not_ours() {
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; printf 3 >> b");
    let mut view = place.view();
    let mut meanwhile =
        Meanwhile { place: &place, at: ("mark the journal done", 0), script: "printf host > a" };
    let commit_all = bailiwick_overlay::Commit::default();
    view.commit(&commit_all, &place.journals(), &mut meanwhile).expect("a commit");
    place.inside("printf 4 >> a; printf 4 >> b");
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "a [HostChanged]");
    commit(&mut view, &place, paths(&["b"])).expect("what is ours");
    assert_eq!(place.host_tree()["a"].2, b"host");
}
