use std::ffi::OsString;

use super::{COMMANDS, Fault, Verdict, dispatch, usage};

#[track_caller]
fn check_usage(typed: &[&str], complaint: &str) {
    let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
    match dispatch(&typed) {
        Err(fault @ Fault::Usage { .. }) => {
            let text = fault.to_string();
            assert!(text.contains(complaint), "{text:?} does not say {complaint:?}");
            assert!(text.contains("usage: "), "{text:?} does not show the usage");
        }
        other => panic!("expected a usage fault for {typed:?}, got {other:?}"),
    }
}

#[test]
fn what_is_not_a_command_is_answered_with_the_usage() {
    check_usage(&[], "no command");
    check_usage(&["tidi"], "unknown command `tidi`");
    check_usage(&["tidy", "--fix"], "unknown argument `--fix`");
    check_usage(&["tidy", "--root"], "--root needs a folder");
}

#[test]
fn a_folder_that_is_no_workspace_is_a_fault_and_not_a_clean_tree() {
    let empty = tempfile::tempdir().unwrap();
    let typed = ["tidy".into(), "--root".into(), empty.path().as_os_str().to_owned()];
    assert!(matches!(dispatch(&typed), Err(Fault::Read(_))));
}

#[test]
fn the_usage_names_every_command() {
    assert!(COMMANDS.iter().all(|command| usage().contains(command.name)));
}

#[test]
fn the_documents_that_are_made_are_current() {
    let told = dispatch(&["gen".into(), "--check".into()]).unwrap();
    assert!(matches!(told, Verdict::Clean), "run `make gen`");
}
