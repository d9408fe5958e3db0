//! Tests of the listener.
