//! Tools and records in one file: rows in, rows out, written by one thread.
//!
//! It reads no document and decides nothing.
