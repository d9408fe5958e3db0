//! `specs/policy`: behaviours and attacks as folders.

use std::path::Path;

#[test]
fn every_case_of_the_policy_area_gives_what_it_promises() {
    let area = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/policy");
    let results = bailiwick_testkit::run_specs(Path::new(env!("CARGO_BIN_EXE_bailiwick")), &area);
    let wrong: Vec<String> = results
        .iter()
        .filter_map(|(name, wrong)| wrong.as_ref().map(|wrong| format!("{name}: {wrong}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(results.len() >= 10, "only {} cases were found", results.len());
}

/// The suite is worth something only if it can fail: against a program that says yes to everything, every case
/// that expects a no must go red.
#[test]
fn a_program_that_enforces_nothing_fails_the_attacks() {
    let area = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/policy");
    let results = bailiwick_testkit::run_specs(Path::new("/bin/true"), &area);
    let passed: Vec<&str> =
        results.iter().filter(|(_, wrong)| wrong.is_none()).map(|(name, _)| name.as_str()).collect();
    assert!(passed.is_empty(), "these cases prove nothing: {passed:?}");
}
