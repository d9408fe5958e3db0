//! Fixtures for tests: the program under test on a machine of its own, the runner of `specs/`, and of the
//! examples in the documents; and a network of fakes, all of it on loopback.
//!
//! A dev-dependency of others and never more. Nothing here may know how a feature works; it only sets the stage
//! and looks at what comes out. For the network start at [`upstream`]; nothing of it may ever leave the machine.

mod again;
pub mod authority;
mod background;
mod backing;
#[cfg(test)]
mod client;
pub mod dns;
pub mod docker;
pub mod engine;
mod examples;
pub mod forge;
pub mod hollow;
mod message;
pub mod netns;
mod program;
pub mod proxy;
mod requires;
pub mod routes;
mod running;
mod serving;
mod specs;
mod suite;
mod trials;
pub mod upstream;
mod verdicts;

pub use backing::Backing;
pub use examples::run_examples;
pub use program::{Program, Run};
pub use requires::has;
pub use running::Running;
pub use serving::{Serving, run};
pub use specs::Specs;
pub use suite::{Group, Prepared, run_suite};
pub use trials::{Test, Trial, run_tests, run_tests_and, trial};
pub use verdicts::{Hollow, VERDICTS, Verdicts};
