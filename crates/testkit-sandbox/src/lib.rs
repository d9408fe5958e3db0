//! One suite for all backends ([`conformance`]), and what their tests share: asking a sandbox for something, a way out and an image of a
//! test's own, programs to run inside, and looks at what is on the host.
//!
//! A dev-dependency of backends and never more. Nothing here may know a backend: it speaks the interface that all of them have.

#![expect(
    clippy::missing_panics_doc,
    reason = "what a test asks for and cannot have ends the test, whichever it is"
)]
#![expect(clippy::expect_used, reason = "a test fixture that does not work ends its test")]
#![expect(clippy::disallowed_methods, reason = "fixtures make files and look at processes of their own")]

mod asked;
pub mod conformance;
mod image;
mod left;
mod owner;
pub mod programs;
mod way_out;

pub use asked::{count, counts_on, path, said, sh, shell, wait, words};
pub use image::{Folder, entries, has_shell, image};
pub use left::{boxes, cgroups_of, is_root, memory_of, processes_with};
pub use owner::Owner;
pub use way_out::{Came, WayOut};
