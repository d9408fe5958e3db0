//! Review before it lands: what a sandbox changed of a folder of the host, shown, written there, or dropped.
//!
//! A sandbox has a view of the folder through overlayfs: the host's folder beneath, which is only read, and a folder of
//! the sandbox's own on top, which takes every write. This crate makes no mount. It is given both, a [`Host`] and the
//! folder on top by its descriptor, with what is known of the begin, a [`Baseline`]; together they are a [`View`].
//!
//! A guest wrote everything in the folder on top: its names, links, pipes, sparse files and depths. Nothing of it is
//! believed or followed, and looking at it is bounded. The host's folder is never walked but beneath a folder that the
//! sandbox removed, and is not touched before [`View::commit`], which writes all that was chosen or nothing. A file that
//! somebody changed meanwhile is a conflict, and is never written over.
//!
//! What is not taken over: owners, extended attributes, hard links (each name becomes a file), set-user-id bits and their
//! like, times, pipes, sockets and devices, and the mode of the folder itself.
//!
//! Start reading at [`View`], then `walk.rs` for what is found, `commit.rs` for what is written, and `journal` for how.

mod baseline;
mod change;
mod commit;
mod content;
mod diff;
mod discard;
mod fault;
mod host;
mod journal;
mod links;
mod path;
mod seen;
mod select;
mod sensitive;
mod upper;
mod view;
mod walk;

pub use baseline::{Baseline, Names};
pub use change::{Bound, Bounds, Change, Changes, Finding, Node, Reviewed, Skipped, Target, What, Why};
pub use commit::{Commit, Committed, LinksOut};
pub use diff::{Body, Diff, DiffBounds, Does, FileDiff, Part};
pub use fault::{Doing, Fault};
pub use host::Host;
pub use journal::{Ended, Journals, Left, Recovered, Steps, recover};
pub use path::{NoPath, RelPath};
pub use seen::{Kind, Moment};
pub use select::Selection;
pub use sensitive::Sensitive;
pub use view::View;

#[cfg(test)]
mod tests;
