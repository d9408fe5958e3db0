//! Tests of what needs no mount.
