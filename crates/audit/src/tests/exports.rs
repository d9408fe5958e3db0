//! A file that was exported is proven by whoever has the public key.

use super::stage::{Chain, foreign_keys, keys};
use crate::{ExportError, ExportReader, MOST_LINE_BYTES, PublicKey, Verdict, Why};

fn verify(text: &str, key: PublicKey) -> Result<Verdict, ExportError> {
    ExportReader::new(text.as_bytes(), key).verify()
}

#[track_caller]
fn check(text: &str, expected: Verdict) {
    assert_eq!(verify(text, keys().public()).unwrap(), expected);
}

#[test]
fn an_export_is_proven_like_the_chain_it_is_of() {
    let chain = Chain::of(18);
    check(&chain.export(), chain.verify());
    check(chain.export().trim_end(), chain.verify());
    let cut = chain.cut_to(8);
    check(&cut.export(), cut.verify());
    check("", Verdict::Proven { to: 0, unsigned: 0, from: 1, removed: 0 });
}

#[test]
fn an_export_that_was_edited_is_found_out() {
    let text = Chain::of(18).export();
    let edited = text.replace("{\"n\":5}", "{\"n\":6}");
    assert_ne!(edited, text);
    check(&edited, Verdict::Broken { first_bad: 6, why: Why::HashMismatch, proven_to: 4 });
    let without = |number: usize| {
        let lines = text.lines().enumerate().filter(|(index, _)| *index != number);
        lines.map(|(_, line)| line.to_owned() + "\n").collect::<String>()
    };
    // After four records comes a head.
    check(&without(5), Verdict::Broken { first_bad: 5, why: Why::Missing, proven_to: 4 });
    check(&without(4), Verdict::Proven { to: 16, unsigned: 2, from: 1, removed: 0 });
    let twice: String = text.lines().flat_map(|line| [line, "\n", line, "\n"]).collect();
    check(&twice, Verdict::Broken { first_bad: 1, why: Why::OutOfOrder, proven_to: 0 });
}

#[test]
fn with_another_key_nothing_is_proven() {
    let verdict = verify(&Chain::of(18).export(), foreign_keys().public()).unwrap();
    assert_eq!(verdict, Verdict::Broken { first_bad: 4, why: Why::ForgedHead, proven_to: 0 });
}

#[test]
fn a_head_that_comes_too_late_to_be_compared_proves_nothing() {
    let chain = Chain::of(9);
    let text = chain.export();
    let (heads, records): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("{\"head\""));
    let late = [records, heads].concat().join("\n");
    check(&late, Verdict::Broken { first_bad: 4, why: Why::OutOfOrder, proven_to: 0 });
}

#[test]
fn what_is_no_export_is_an_error_with_its_line() {
    let text = Chain::of(2).export();
    let error = |extra: &str| verify(&format!("{text}{extra}"), keys().public()).unwrap_err();
    assert!(matches!(error("\n"), ExportError::NotARecord { line: 3 }));
    assert!(matches!(error("{}\n"), ExportError::NotARecord { line: 3 }));
    assert!(matches!(error("{\"head\":{}}\n"), ExportError::NotARecord { line: 3 }));
    let long = "x".repeat(MOST_LINE_BYTES + 1);
    assert!(matches!(error(&long), ExportError::TooLong { line: 3 }));
}
