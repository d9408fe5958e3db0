//! `specs/secrets`: what becomes of a secret in a call, its record and its report; and what learning proposes.

use std::path::Path;

use super::specs::{check, check_that_none_passes};

#[test]
fn every_case_of_the_secrets_area_gives_what_it_promises() {
    check("secrets", 26);
}

#[test]
fn a_program_that_does_nothing_fails_every_case_of_the_secrets_area() {
    check_that_none_passes("secrets", Path::new("/bin/true"));
}
