//! `cargo fuzz run parsers --features libfuzzer`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bailiwick_fuzz::parsers(bytes));
