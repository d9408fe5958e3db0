//! Every hand-written `unsafe` block and raw system call, one file per concern.
//!
//! Syscalls know no policy, no guest and no protocol. Each function does one step and fails with the name of that step
//! and the system's error; nothing here falls back to something weaker by itself: whoever calls decides what a missing
//! part means, and says so. x86-64 and aarch64.
//!
//! Start reading at [`alone`] (who may fork), then [`clone`], [`root`], [`privileges`] and [`seccomp`] in the order in
//! which a nursery goes through them.

pub mod alone;
pub mod bare;
pub mod beneath;
pub mod bounds;
pub mod capacity;
pub mod cgroup;
pub mod cgroups;
pub mod clock;
pub mod clone;
pub mod command;
pub mod descriptors;
pub mod ending;
pub mod heap;
pub mod held;
pub mod hot;
pub mod ipc;
pub mod landlock;
pub mod local;
pub mod loopback;
pub mod machine;
pub mod mounts;
pub mod namespaces;
pub mod overlay;
pub mod packets;
pub mod pidfd;
pub mod priority;
pub mod privileges;
pub mod probe;
pub mod program;
pub mod reexec;
pub mod root;
pub mod seccomp;
pub mod signals;
pub mod step;
pub mod trees;

pub use rustix::io::Errno;
pub use step::{Failed, Step};

#[cfg(test)]
mod tests;
