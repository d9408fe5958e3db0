//! Confined files.
