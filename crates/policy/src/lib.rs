//! What may a piece of code do, and why: capabilities, host rules, layers, decisions, risk.
//!
//! Everything here is pure: no file, no socket, no clock, no async. The same documents always give the same
//! answers, so all of it is tested by table and by property.
//!
//! The way through, one type per step:
//!
//! 1. a *document* ([`bailiwick_document::Node`]) is read into a [`Layer`] by [`Layer::read`];
//! 2. [`resolve`] puts the operator's [`Baseline`], a chain of profiles and the tool's overrides together into
//!    an [`EffectivePolicy`], or reports **all** [`Conflict`]s at once;
//! 3. [`EffectivePolicy::decide`] answers one [`Question`] with a [`Decision`]: only it can make a
//!    [`Checked`] value, and every effect takes one;
//! 4. [`risk`] says how far a policy is widened, and why, and [`hints()`] what it may do to the world, for clients
//!    of MCP; [`diff`] compares two policies, and [`Remembered`] one with another that was written down; [`explain`]
//!    tells a person the answer, the rule, the layer and the narrowest fix.
//!
//! What this crate must never do: enforce anything, resolve a name, look at a real path. It decides; the
//! gateway acts, on `Checked` values only.

mod baseline;
mod capability;
mod decide;
mod diff;
mod effective;
mod explain;
mod hints;
mod host;
mod layer;
mod network;
mod path;
pub mod reference;
mod remembered;
mod resolve;
mod risk;
mod surface;

pub use baseline::{Baseline, Ceilings, Profile};
pub use capability::{Capability, CapabilityPattern, CapabilitySet, Class, Grant, PatternError};
pub use decide::{
    AddressQuestion, Answers, Checked, Decision, EgressDecision, EgressPolicy, EgressRequest, EgressScope,
    EgressTarget, EgressTerms, FetchQuestion, FetchTarget, FileAccess, FileOp, FileQuestion, Pending, Query,
    QueryError, Question, Reach,
};
pub use diff::{Diff, diff};
pub use effective::EffectivePolicy;
pub use explain::{Answer, Explanation, explain};
pub use hints::{Hints, command_hints, hints};
pub use host::{
    AddressClass, HostError, HostName, HostPattern, HostRule, PathGlob, PortRule, Purpose, classify,
    is_bad_port, registered_domain, without_userinfo,
};
pub use layer::read::ToolPolicy;
pub use layer::{Layer, LimitRequest, Room, Source, Sourced, read, without};
pub use network::{AskWhen, Method, MethodSet, NetworkMode};
pub use path::{GuestPath, PathError, Root};
pub use remembered::{Remembered, RememberedError};
pub use resolve::{Conflict, ConflictKind, Conflicts, MAX_PROFILE_LINKS, resolve};
pub use risk::{CommandNetwork, CommandPlace, CommandPosture, Exposure, MountMode, command_risk, risk};
pub use surface::{BlockedName, FetchBounds, Surface, surface};

#[cfg(test)]
mod tests;
