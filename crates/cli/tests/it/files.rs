//! `specs/fs`: what code does with files, and what it wants to do with those of others.

use std::path::Path;

use super::specs::{check, check_that_none_passes};

#[test]
fn every_case_of_the_files_area_gives_what_it_promises() {
    check("fs", 45);
}

#[test]
fn a_program_that_does_nothing_fails_every_case_of_the_files_area() {
    check_that_none_passes("fs", Path::new("/bin/true"));
}
