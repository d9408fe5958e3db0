//! `cargo fuzz run scan_texts --features libfuzzer`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bailiwick_fuzz::scan_texts(bytes));
