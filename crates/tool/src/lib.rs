//! A tool as its document says it: read, checked, put into its canonical form, hashed.
//!
//! Nothing here runs a tool, opens a file or keeps anything.
