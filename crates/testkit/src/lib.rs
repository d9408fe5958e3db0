//! Fixtures for tests: the program under test on a machine of its own, the runner of `specs/`, and of the
//! examples in the documents; and a network of fakes, all of it on loopback.
//!
//! A dev-dependency of others and never more. Nothing here may know how a feature works; it only sets the stage
//! and looks at what comes out. For the network start at [`upstream`]; nothing of it may ever leave the machine.

mod again;
pub mod authority;
mod background;
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
mod specs;
mod trials;
pub mod upstream;
mod verdicts;

pub use examples::run_examples;
pub use program::{Program, Run};
pub use requires::has;
pub use running::Running;
pub use specs::{Specs, run_specs};
pub use trials::{Test, run_tests};
pub use verdicts::{Hollow, Results, VERDICTS, Verdicts};
