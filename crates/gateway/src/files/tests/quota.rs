//! A workspace never holds more than its quota, whatever is done.

use bailiwick_types::FileRequest;
use proptest::prelude::*;

use super::*;

fn total(folder: &Path) -> u64 {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() { total(&entry.path()) } else { meta.len() }
        })
        .sum()
}

#[test]
fn what_would_go_over_is_refused_and_what_shrinks_is_not() {
    let stage = Stage::with(ALL, Quota { bytes: 10, entries: 3 });
    stage.check(write("a", "12345678"), r#"{"size":8}"#);
    stage.check(write("b", "123"), "DISK_LIMIT quota");
    stage.check(append("a", "123"), "DISK_LIMIT quota");
    stage.check(write("a", "1234567890"), r#"{"size":10}"#);
    stage.check(copy("a", "b"), "DISK_LIMIT quota");
    stage.check(write("a", "1"), r#"{"size":1}"#);
    stage.check(mkdir("d/e"), "null");
    stage.check(mkdir("f"), "DISK_LIMIT quota");
    stage.check(delete_dir("d", true), r#"{"removed":2}"#);
    stage.check(mkdir("f"), "null");
    let other = open(stage.top.path(), ALL, Quota { bytes: 10, entries: 3 });
    let refused = stage.runtime.block_on(other.serve(write("g", "1234567890"))).unwrap_err();
    assert_eq!(refused.reason, "quota", "calls share the account");
}

#[test]
fn leftovers_of_a_crash_are_not_shown_not_counted_and_go() {
    let stage = Stage::new();
    let leftover = stage.workspace().join(format!(".bailiwick-{}.part", "a".repeat(32)));
    std::fs::write(&leftover, "half").unwrap();
    stage.check(list(".", true), r#"{"entries":[],"truncated":false}"#);
    stage.check(read(leftover.file_name().unwrap().to_str().unwrap()), "FS_FAILED not-found");
    stage.check(FileRequest::Workspace, r#"{"path":".","used":0,"quota":268435456}"#);
    assert!(!leftover.exists());
}

fn operation() -> impl Strategy<Value = FileRequest> {
    let name = || prop::sample::select(vec!["a", "b", "d", "d/a", "d/b", "e/a"]);
    prop_oneof![
        (name(), 0..80_usize).prop_map(|(path, size)| write(path, &"x".repeat(size))),
        (name(), 0..40_usize).prop_map(|(path, size)| append(path, &"y".repeat(size))),
        name().prop_map(|path| edit(path, "x", "yyy", true)),
        (name(), name()).prop_map(|(from, to)| copy(from, to)),
        (name(), name()).prop_map(|(from, to)| rename(from, to)),
        name().prop_map(delete),
        name().prop_map(mkdir),
        name().prop_map(|path| delete_dir(path, true)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sum_of_sizes_is_what_the_account_says_and_within_the_quota(ops in prop::collection::vec(operation(), 1..40)) {
        let stage = Stage::with(ALL, Quota { bytes: 200, entries: 6 });
        for op in ops {
            // Refusals are as good as answers here.
            let _ = stage.ask(op);
            let held = total(&stage.workspace());
            prop_assert!(held <= 200);
            prop_assert_eq!(stage.ask(FileRequest::Workspace).unwrap(), format!(r#"{{"path":".","used":{held},"quota":200}}"#));
        }
    }
}
