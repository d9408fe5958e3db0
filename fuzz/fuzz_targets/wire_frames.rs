//! `cargo fuzz run wire_frames --features libfuzzer`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bailiwick_fuzz::wire_frames(bytes));
