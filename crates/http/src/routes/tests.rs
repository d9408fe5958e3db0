//! Tests of the routes.
