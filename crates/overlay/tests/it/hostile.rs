//! Folders on top that no kernel would write: a guest's, at their worst.

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_overlay::{Bounds, DiffBounds, Fault, RelPath, Selection, Steps, Why};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, changes, commit, refused, short};

tests!(
    pipes_and_sockets_are_never_opened,
    marks_that_our_mounts_never_make_are_skipped,
    marks_by_attribute_count_only_where_their_folder_says_so,
    no_link_is_followed_on_either_side,
    names_of_any_bytes_come_through,
    a_tree_that_is_too_deep_is_told,
    a_huge_file_of_nothing_costs_nothing,
    a_file_that_is_still_being_written_is_not_taken,
    the_folder_itself_cannot_hide_the_hosts,
    a_sandbox_that_goes_on_is_listed_as_far_as_it_stands_still,
);

fn pipes_and_sockets_are_never_opened() {
    let mut place = Place::usual();
    place.begin();
    place::shell(&place.upper(), "mkfifo a; mkfifo p; printf 1 > n");
    let socket = std::os::unix::net::UnixListener::bind(place.upper().join("s")).expect("a socket");
    let mut view = place.view();
    let found = changes(&view);
    assert_eq!(short(&found.changes), "A n");
    assert!(found.skipped.iter().all(|skipped| skipped.why == Why::Special) && found.skipped.len() == 3);
    view.diff(&found, DiffBounds::default()).expect("a diff");
    let done = commit(&mut view, &place, Selection::All).expect("a commit");
    assert_eq!(done.skipped.len(), 3);
    assert_eq!(place.host_tree()["a"].2, b"one\ntwo\n", "what was there stays");
    view.discard(&Selection::All).expect("discarded");
    drop(socket);
}

/// Writes an attribute; whether the file system has any.
fn mark(place: &Place, name: &str, attribute: &str, value: &[u8]) -> bool {
    let path = place.upper().join(name);
    rustix::fs::setxattr(path, attribute, value, rustix::fs::XattrFlags::empty()).is_ok()
}

fn marks_that_our_mounts_never_make_are_skipped() {
    let mut place = Place::usual();
    place.begin();
    place::shell(&place.upper(), "printf '' > a; mkdir d r; printf 1 > r/inside");
    requires!("attributes", mark(&place, "a", "user.overlay.metacopy", b""));
    assert!(mark(&place, "r", "user.overlay.redirect", b"/d"));
    let mut view = place.view();
    let found = changes(&view);
    assert_eq!(short(&found.changes), "", "a file without its content must not empty the host's");
    let why: Vec<_> = found.skipped.iter().map(|skipped| (skipped.path.to_string(), skipped.why)).collect();
    assert_eq!(why, [("a".to_owned(), Why::UnknownMark), ("r".to_owned(), Why::UnknownMark)]);
    commit(&mut view, &place, Selection::All).expect("there is nothing to do");
    assert_eq!(place.host_tree()["a"].2, b"one\ntwo\n");
}

fn marks_by_attribute_count_only_where_their_folder_says_so() {
    let mut place = Place::usual();
    place.begin();
    place::shell(&place.upper(), ": > a; mkdir d; : > d/x; : > d/y");
    requires!("attributes", mark(&place, "a", "user.overlay.whiteout", b"y"));
    assert!(mark(&place, "d", "user.overlay.opaque", b"x"));
    assert!(mark(&place, "d/x", "user.overlay.whiteout", b"y"));
    let view = place.view();
    assert_eq!(short(&changes(&view).changes), "M a, D d/x, M d/y");
}

fn the_folder_itself_cannot_hide_the_hosts() {
    let mut place = Place::usual();
    place.begin();
    requires!("attributes", mark(&place, ".", "user.overlay.opaque", b"y"));
    let view = place.view();
    assert_eq!(short(&changes(&view).changes), "");
}

fn no_link_is_followed_on_either_side() {
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("x"), "secret").expect("a file");
    let to = outside.path().display();
    // On top: a link in place of a folder. On the host: a link where the sandbox has a folder.
    let mut place = Place::usual();
    place.on_the_host(&format!("ln -s {to} out"));
    place.begin();
    place::shell(&place.upper(), &format!("ln -s {to} d; mkdir out; printf guest > out/x; ln -s {to}/x a"));
    let mut view = place.view();
    let found = changes(&view);
    assert_eq!(short(&found.changes), "T a, T d, D d/e, D d/e/f, D d/x, D d/y, T out, A out/x");
    let diff = view.diff(&found, DiffBounds::default()).expect("a diff");
    assert!(!diff.patch().contains("secret"), "{}", diff.patch());
    commit(&mut view, &place, Selection::All).expect("a commit");
    assert_eq!(std::fs::read(outside.path().join("x")).expect("there"), b"secret");
    assert_eq!(place.host_tree()["out/x"], ('f', 0o644, b"guest".to_vec()));
}

fn names_of_any_bytes_come_through() {
    let mut place = Place::usual();
    place.begin();
    let names: [&[u8]; 7] = [
        b"new\nline",
        b"quo\"te",
        b"back\\slash",
        b"\xff\xfe",
        b"\x1b[31m",
        " \u{202e}txt.exe".as_bytes(),
        b"-rf",
    ];
    for name in names {
        std::fs::write(place.upper().join(std::ffi::OsStr::from_bytes(name)), "x\n").expect("a file");
    }
    let mut view = place.view();
    let found = changes(&view);
    for change in &found.changes {
        let text = change.path.to_string();
        assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
        assert_eq!(RelPath::parse(&text), Ok(change.path.clone()), "{text:?}");
    }
    let patch = view.diff(&found, DiffBounds::default()).expect("a diff").patch();
    assert!(!patch.contains('\x1b') && !patch.contains('\u{202e}'), "{patch:?}");
    commit(&mut view, &place, Selection::All).expect("a commit");
    for name in names {
        assert!(place.lower().join(std::ffi::OsStr::from_bytes(name)).exists(), "{name:?}");
    }
}

fn a_tree_that_is_too_deep_is_told() {
    let mut place = Place::usual();
    place.begin();
    // Deeper than a path can be long, as a guest makes it: step by step.
    let name = "n".repeat(200);
    place::shell(
        &place.upper(),
        &format!("i=0; while [ $i -lt 60 ]; do mkdir {name}; cd -P ./{name}; i=$((i+1)); done"),
    );
    let view = place.view();
    let found = view.changes(&Selection::All, Bounds { depth: 1000, ..Bounds::default() }).expect("changes");
    assert_eq!(found.skipped.len(), 1);
    assert_eq!(found.skipped[0].why, Why::TooDeep);
    view.discard(&Selection::All).expect("any depth can be discarded");
    assert!(place::tree(&place.upper()).is_empty());
}

fn a_huge_file_of_nothing_costs_nothing() {
    let mut place = Place::usual();
    place.begin();
    place::shell(&place.upper(), "truncate -s 1T huge 2>/dev/null || truncate -s 8G huge; printf 1 > n");
    let mut view = place.view();
    let found = changes(&view);
    assert_eq!(short(&found.changes), "A huge, A n");
    let diff = view.diff(&found, DiffBounds::default()).expect("a diff");
    assert!(diff.patch().contains("# too large to show, 0 -> "), "{}", diff.patch());
    assert_eq!(refused(commit(&mut view, &place, Selection::All)), "huge [TooLarge]");
    commit(&mut view, &place, place::paths(&["n"])).expect("the others");
}

fn a_file_that_is_still_being_written_is_not_taken() {
    struct Writing<'a>(&'a Place);
    impl Steps for Writing<'_> {
        fn reached(&mut self, step: &'static str) {
            if step == "write a piece of a staged file" {
                place::shell(&self.0.upper(), "printf more >> n");
            }
        }
    }
    let mut place = Place::usual();
    place.begin();
    place::shell(&place.upper(), "printf 1 > n");
    let before = place.host_tree();
    let mut view = place.view();
    let result = view.commit(&bailiwick_overlay::Commit::default(), &place.journals(), &mut Writing(&place));
    assert!(matches!(&result, Err(Fault::StillWritten { path }) if *path == place::path("n")), "{result:?}");
    assert_eq!(place.host_tree(), before);
    assert!(place::tree(&place.journals_path()).is_empty());
    let listed = changes(&view);
    place::shell(&place.upper(), "printf else > n");
    let diff = view.diff(&listed, DiffBounds::default()).expect("a diff");
    assert_eq!(
        diff.files[0].parts[0].body,
        bailiwick_overlay::Body::StillWritten,
        "it is not what was listed"
    );
}

fn a_sandbox_that_goes_on_is_listed_as_far_as_it_stands_still() {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let mut place = Place::usual();
    place.begin();
    place::shell(&place.upper(), "head -c 20000000 /dev/zero > log; printf 1 > n");
    let mut view = place.view();
    let stop = AtomicBool::new(false);
    let (begun, has_begun) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log =
                std::fs::File::options().append(true).open(place.upper().join("log")).expect("a file");
            begun.send(()).expect("it is waited for");
            while !stop.load(Ordering::Relaxed) {
                log.write_all(b"x").expect("written");
            }
        });
        // Also when something here fails.
        let _stop = Stop(&stop);
        has_begun.recv().expect("it writes");
        let found = changes(&view);
        assert_eq!(short(&found.changes), "A log, A n");
        assert_eq!(found.changes[0].findings, [bailiwick_overlay::Finding::StillWritten]);
        assert_eq!(refused(commit(&mut view, &place, Selection::All)), "log [StillWritten]");
        commit(&mut view, &place, place::paths(&["n"])).expect("what stands still can be chosen");
    });
    assert_eq!(place.host_tree()["n"].2, b"1");
}
