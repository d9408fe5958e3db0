//! Guarded requests.
