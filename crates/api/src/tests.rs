//! Tests of the shapes.
