//! Tests of the egress.
