//! Every command in the documents runs here and prints what the document says.

use std::path::Path;

#[track_caller]
fn check(document: &str, text: &str) {
    let wrong = bailiwick_testkit::run_examples(Path::new(env!("CARGO_BIN_EXE_bailiwick")), text);
    assert!(wrong.is_empty(), "{document}\n{}", wrong.join("\n\n"));
}

#[test]
fn the_examples_of_the_readme_are_true() {
    check("README.md", include_str!("../../../../README.md"));
}

#[test]
fn the_examples_of_the_policy_guide_are_true() {
    check("docs/policy.md", include_str!("../../../../docs/policy.md"));
}

#[test]
fn the_example_file_of_make_run_is_a_policy() {
    let run = super::bailiwick()
        .with_file("o.yaml", include_str!("../../../../docs/examples/repo-stars.yaml"))
        .run(&["policy", "show", "--overrides", "o.yaml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}
