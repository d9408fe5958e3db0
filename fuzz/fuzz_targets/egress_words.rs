//! `cargo fuzz run egress_words --features libfuzzer`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bailiwick_fuzz::egress_words(bytes));
