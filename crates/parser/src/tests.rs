//! Texts and what they give, and hostile ones that must end quickly, on a small stack, in a result or a clear error.

mod csv;
mod hostile;
mod html;
mod select;
mod xml;
mod yaml;

use crate::{ParseError, Reason};

type Given = Result<String, ParseError>;

#[track_caller]
fn gives(given: Given, expected: &str) {
    match given {
        Ok(given) => assert_eq!(given, expected),
        Err(error) => panic!("{error} instead of {expected}"),
    }
}

#[track_caller]
fn refuses(given: Given, reason: Reason, says: &str) {
    let error = given.expect_err(says);
    assert_eq!(error.reason(), reason, "{error}");
    assert!(error.to_string().contains(says), "`{error}` does not say `{says}`");
}
