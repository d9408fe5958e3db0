//! Layers upon layers: what is added, replaced and taken away, and who may read the outcome.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use tar::EntryType;

use crate::made::{Layer, Made, Place, get};

/// The names in a tree, sorted.
fn names(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            found.push(path.strip_prefix(root).expect("below").display().to_string());
            if path.symlink_metadata().expect("it is there").is_dir() {
                waiting.push(path);
            }
        }
    }
    found.sort();
    found
}

#[track_caller]
fn check(layers: Vec<Layer>, expected: &[&str]) {
    let place = Place::new();
    place.take(Made::of(layers)).expect("it is taken");
    assert_eq!(names(&place.root("it:1")), expected);
}

fn below() -> Layer {
    Layer::new().file("a/one", "1").file("a/two", "2").file("a/deep/three", "3").file("b", "b")
}

#[test]
fn a_whiteout_takes_away_what_is_below_and_not_beside() {
    check(vec![below(), Layer::new().file("a/.wh.one", "")], &["a", "a/deep", "a/deep/three", "a/two", "b"]);
    check(vec![below(), Layer::new().file(".wh.a", "")], &["b"]);
    check(
        vec![below(), Layer::new().file(".wh.nothing", "").file("x/.wh.y", "")],
        &["a", "a/deep", "a/deep/three", "a/one", "a/two", "b"],
    );
    let own = ["a", "a/new", "b"];
    check(vec![below(), Layer::new().file("a/new", "n").file(".wh.a", "")], &own);
    check(vec![below(), Layer::new().file(".wh.a", "").file("a/new", "n")], &own);
    check(
        vec![below(), Layer::new().file("b", "new").file(".wh.b", "")],
        &["a", "a/deep", "a/deep/three", "a/one", "a/two", "b"],
    );
}

#[test]
fn an_opaque_folder_hides_what_is_below_and_keeps_its_own() {
    let own = ["a", "a/deep", "a/deep/new", "a/new", "b"];
    let layer = || Layer::new().folder("a").file("a/new", "n").file("a/deep/new", "n");
    check(vec![below(), layer().file("a/.wh..wh..opq", "")], &own);
    let first = Layer::new().file("a/.wh..wh..opq", "").file("a/new", "n").file("a/deep/new", "n");
    check(vec![below(), first], &own);
    check(vec![below(), Layer::new().file(".wh..wh..opq", "").file("c", "c")], &["c"]);
    check(vec![Layer::new().file(".wh..wh.aufs", "").file(".wh..wh.plnk/x", "").file("c", "c")], &["c"]);
}

#[test]
fn a_layer_of_its_own_has_nothing_to_do_with_whiteouts_of_the_next() {
    let layers = vec![
        below(),
        Layer::new().file("a/new", "n"),
        Layer::new().file("a/.wh.new", ""),
        Layer::new().file("a/new", "again"),
    ];
    let place = Place::new();
    place.take(Made::of(layers)).expect("it is taken");
    assert_eq!(get(&place.root("it:1").join("a/new")), "again");
}

#[test]
fn what_its_owner_can_read_everybody_can_and_nobody_writes() {
    let place = Place::new();
    let rows = [
        ("secret", 0o600, 0o644),
        ("locked", 0o000, 0o600),
        ("open", 0o666, 0o644),
        ("tool", 0o700, 0o755),
        ("own", 0o4500, 0o755),
        ("run", 0o111, 0o600),
    ];
    let mut layer = Layer::new().entry(EntryType::Directory, "shut", "", 0o000, b"").file("shut/x", "x");
    for (name, mode, _) in rows {
        layer = layer.entry(EntryType::Regular, name, "", mode, b"x");
    }
    place.take(Made::of(vec![layer])).expect("it is taken");
    let root = place.root("it:1");
    for (name, mode, expected) in rows {
        let seen = root.join(name).metadata().expect(name);
        assert_eq!(seen.permissions().mode() & 0o7777, expected, "{name} {mode:o}");
        assert_eq!(seen.uid(), rustix::process::geteuid().as_raw());
        assert_eq!(seen.mtime(), 1_000_000_000);
    }
    for folder in ["shut", "."] {
        assert_eq!(root.join(folder).metadata().expect("a folder").permissions().mode() & 0o7777, 0o755);
    }
}

#[test]
fn long_names_of_both_kinds_are_names() {
    let long = format!("{}/{}", "d".repeat(150), "f".repeat(150));
    let place = Place::new();
    let layer = Layer::new()
        .file(&long, "gnu")
        .link("to-gnu", &long)
        .pax(&[("path", format!("p/{long}").as_bytes()), ("mtime", b"-5.25")])
        .file("short", "pax")
        .pax(&[("linkpath", long.as_bytes())])
        .hard_link("hard", "x");
    place.take(Made::of(vec![layer])).expect("it is taken");
    let root = place.root("it:1");
    assert_eq!(get(&root.join(&long)), "gnu");
    assert_eq!(get(&root.join("p").join(&long)), "pax");
    assert_eq!(root.join("p").join(&long).metadata().expect("it is there").mtime(), -5);
    assert_eq!(get(&root.join("hard")), "gnu");
    assert_eq!(std::fs::read_link(root.join("to-gnu")).expect("a link").to_str(), Some(long.as_str()));
    assert!(root.join("short").symlink_metadata().is_err());
}

#[test]
fn an_image_without_layers_is_an_empty_root() {
    check(vec![], &[]);
}
