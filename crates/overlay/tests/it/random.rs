//! Whatever a sandbox does to a folder, in any order: after a commit the folder is what it saw.

use bailiwick_overlay::{DiffBounds, Selection};
use bailiwick_testkit::{requires, tests};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::place::{self, Place, changes, commit, short};

tests!(whatever_a_sandbox_does_a_commit_makes_the_folder_what_it_saw);

const CASES: u32 = 40;

fn a_path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a", "b", "more", "l", "d", "d/x", "d/y", "d/e", "d/e/f", "z", "z/a", "n", "n/a", "n/b", "n/b/c",
    ])
}

/// One thing that a shell does; what cannot be done is left.
fn a_deed() -> impl Strategy<Value = String> {
    prop_oneof![
        (a_path(), 0..3_u32).prop_map(|(at, content)| format!("printf {content} > {at}")),
        a_path().prop_map(|at| format!("printf more >> {at}")),
        a_path().prop_map(|at| format!("rm -rf {at}")),
        a_path().prop_map(|at| format!("mkdir -p {at}")),
        (a_path(), a_path()).prop_map(|(from, to)| format!("mv -fT {from} {to}")),
        (a_path(), a_path()).prop_map(|(from, to)| format!("rm -rf {to}; mv -T {from} {to}")),
        (a_path(), a_path()).prop_map(|(from, to)| format!("cp -aT {from} {to}")),
        (a_path(), a_path()).prop_map(|(from, to)| format!("ln -f {from} {to}")),
        (a_path(), a_path()).prop_map(|(to, at)| format!("rm -rf {at}; ln -s {to} {at}")),
        (a_path(), prop::sample::select(vec!["644", "600", "755", "700", "711"]))
            .prop_map(|(at, mode)| format!("[ -L {at} ] || chmod {mode} {at}")),
        a_path().prop_map(|at| format!("touch {at}")),
        a_path().prop_map(|at| format!("rm -rf {at}; mkdir {at}")),
    ]
}

fn whatever_a_sandbox_does_a_commit_makes_the_folder_what_it_saw() {
    requires!("overlayfs", place::is_possible());
    // The same cases in every run.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(
        Config { cases: CASES, failure_persistence: None, ..Config::default() },
        rng,
    );
    let cases = prop::collection::vec(a_deed(), 1..12);
    let result = runner.run(&cases, |deeds| {
        let mut place = Place::usual();
        let deeds: Vec<String> = deeds.iter().map(|deed| format!("({deed}) 2>/dev/null || true")).collect();
        let script = deeds.join("\n");
        place.inside(&script);
        let before = place::stamps(&place.lower());
        let mut view = place.view();
        let found = changes(&view);
        view.diff(&found, DiffBounds::default()).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(place::stamps(&place.lower()), before);
        let sorted = found.changes.is_sorted_by(|one, other| one.path < other.path);
        prop_assert!(sorted, "{}", short(&found.changes));
        // One part first, and then the rest: our own writes are no conflict.
        if let Some(first) = found.changes.get(found.changes.len() / 2) {
            let chosen = Selection::Paths(vec![first.path.clone()]);
            let done = commit(&mut view, &place, chosen);
            let done = done.map_err(|fault| TestCaseError::fail(format!("{}: {fault}", first.path)))?;
            prop_assert_eq!(done.left, vec![]);
        }
        let done = commit(&mut view, &place, Selection::All);
        let done = done.map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(done.left, vec![]);
        prop_assert_eq!(place.host_tree(), place.seen());
        prop_assert_eq!(short(&changes(&view).changes), "");
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
