//! `cargo fuzz run policy_documents --features libfuzzer`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bailiwick_fuzz::policy_documents(bytes));
