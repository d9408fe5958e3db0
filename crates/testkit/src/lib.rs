//! Fixtures for tests: the program under test on a machine of its own, the runner of `specs/`, and of the
//! examples in the documents.
//!
//! A dev-dependency of others and never more. Nothing here may know how a feature works; it only sets the stage
//! and looks at what comes out.

mod examples;
mod program;
mod requires;
mod specs;

pub use examples::run_examples;
pub use program::{Program, Run};
pub use requires::has;
pub use specs::run_specs;
