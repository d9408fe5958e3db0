//! Tests of the perimeter.
