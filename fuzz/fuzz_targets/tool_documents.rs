//! `cargo fuzz run tool_documents --features libfuzzer`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bailiwick_fuzz::tool_documents(bytes));
