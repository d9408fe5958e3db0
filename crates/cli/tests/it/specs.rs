//! `specs/`: behaviours and attacks as folders.

use std::path::{Path, PathBuf};

use bailiwick_testkit::{Specs, requires, run_specs};

pub(crate) fn specs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs").join(name)
}

#[track_caller]
pub(crate) fn check(area: &str, at_least: usize) {
    check_all(&Specs::new(Path::new(env!("CARGO_BIN_EXE_bailiwick")), &specs(area)), at_least);
}

#[track_caller]
pub(crate) fn check_all(specs: &Specs, at_least: usize) {
    let results = specs.run();
    let wrong: Vec<String> = results
        .iter()
        .filter_map(|(name, wrong)| wrong.as_ref().map(|wrong| format!("{name}: {wrong}")))
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), results.len(), wrong.join("\n\n"));
    assert!(results.len() >= at_least, "only {} cases were found", results.len());
}

/// The suite is worth something only if it can fail.
#[track_caller]
pub(crate) fn check_that_none_passes(area: &str, hollow: &Path) {
    let results = run_specs(hollow, &specs(area));
    let passed: Vec<&str> =
        results.iter().filter(|(_, wrong)| wrong.is_none()).map(|(name, _)| name.as_str()).collect();
    assert!(passed.is_empty(), "these cases prove nothing: {passed:?}");
}

#[test]
fn every_case_of_the_policy_area_gives_what_it_promises() {
    check("policy", 10);
}

#[test]
fn every_escape_is_refused() {
    check("escape", 200);
}

#[test]
fn every_bomb_ends_at_its_limit() {
    check("limits", 150);
}

/// Against a program that says yes to everything, every case that expects a no must go red.
#[test]
fn a_program_that_enforces_nothing_fails_the_attacks() {
    check_that_none_passes("policy", Path::new("/bin/true"));
}

/// No case holds where there is no wall. The JavaScript runs in plain Node.js, which has all that the attacks reach for;
/// of system calls that program only says that they went through, and the library's own tests try some without a wall.
#[test]
fn no_escape_is_refused_without_walls() {
    let node = ["/usr/bin/node", "/usr/local/bin/node"].iter().any(|path| Path::new(path).exists());
    requires!("node", node);
    check_that_none_passes("escape", &specs("hollow/bailiwick"));
}
