//! Which programs count as stripped.

use std::io::Write as _;

use super::size;
use crate::row::Verdict;

/// Checks a file that has an ELF header and these sections.
#[track_caller]
fn check(types: &[u8], expected: Verdict) {
    let mut bytes = b"\x7fELF\x02\x01".to_vec();
    bytes.resize(64, 0);
    bytes[0x28] = 64;
    bytes[0x3a] = 64;
    bytes[0x3c] = u8::try_from(types.len()).unwrap();
    for kind in types {
        let mut section = [0; 64];
        section[4] = *kind;
        bytes.extend(section);
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    let row = size(file.path()).unwrap().remove(0);
    assert_eq!(row.verdict(), expected, "{types:?}");
    assert_eq!(row.note.is_some(), expected == Verdict::None, "{types:?}");
}

#[test]
fn a_program_with_symbols_has_no_verdict_on_its_size() {
    check(&[0, 1, 2, 3], Verdict::None);
    check(&[0, 1, 11, 3], Verdict::Met);
    check(&[], Verdict::Met);
}

#[test]
fn a_file_that_is_no_program_is_an_error() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"#!/bin/sh\n").unwrap();
    assert!(size(file.path()).is_err());
}
