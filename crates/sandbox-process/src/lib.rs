//! The backend `process`: our own jail around commands, without a daemon and, where user namespaces are allowed, without root.
//!
//! A *keeper*, which is this program started again, clones the first process of each jail into namespaces of its own. That
//! process builds a root of the host's read-only system folders, gives up everything, puts filters over itself, looks at what
//! stands, and becomes the agent, which starts commands. The host believes what it saw before anything of a guest ran, and
//! nothing after. This crate decides nothing: it gets demands, and holds all of them or refuses.
//!
//! Start reading at `keeper` (`keeper/build.rs`: the walls in their order), then `host/` (what is done from outside).

mod enter;
mod host;
mod keeper;
mod plan;

pub use enter::{enter, enter_with};
pub use host::{Laying, Most, Options, ProcessBackend};
