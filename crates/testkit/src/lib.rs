//! Fixtures for tests: the program under test on a machine of its own, and the runner of `specs/`.
//!
//! A dev-dependency of others and never more. Nothing here may know how a feature works; it only sets the stage
//! and looks at what comes out.

mod program;
mod specs;

pub use program::{Program, Run};
pub use specs::run_specs;
