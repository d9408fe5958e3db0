use super::{OURS, fits};

#[track_caller]
fn check(theirs: &str, expected: bool) {
    assert_eq!(fits(theirs), expected, "{theirs}");
}

#[test]
fn a_server_of_another_language_does_not_fit() {
    check(OURS, true);
    check("0.1.99", true);
    check("0.1.0-rc.1", true);
    for other in ["0.2.0", "1.0.0", "1.1.0", "", "0", "x.y", "0.1x.0", "18446744073709551616.1.0"] {
        check(other, false);
    }
}
