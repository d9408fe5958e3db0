use super::{Verdict, recall, remember};

#[test]
fn a_verdict_counts_for_the_same_machine_and_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let bad = Verdict::now("this".to_owned(), Some("it hangs".to_owned()));
    remember(folder.path(), &bad);
    assert_eq!(recall(folder.path(), "this"), Some(bad.clone()));
    assert_eq!(recall(folder.path(), "another"), None);
    let old = Verdict { at: bad.at - 4000, ..bad };
    remember(folder.path(), &old);
    assert_eq!(recall(folder.path(), "this"), None);
    let good = Verdict { why_not: None, ..old };
    remember(folder.path(), &good);
    assert_eq!(recall(folder.path(), "this"), Some(good));
}
