//! The words every Bailiwick crate shares: ids, limits, error codes, outcomes, denials, risk levels.
//!
//! This crate does no I/O, has no clock and knows no runtime: a value of one of its types exists only
//! if it passed its constructor, and the same input always gives the same value. It must never learn
//! how anything is enforced; it only names things, so that all callers name them alike.
//!
//! Start reading at [`ErrorCode`] (everything that can go wrong), then [`Denial`] (every "no" of the
//! policy) and [`Limits`] (every bound of a call).

mod code;
mod denial;
mod effect;
mod globals;
mod id;
mod limit;
mod native;
mod outcome;
mod quantity;
mod risk;
mod scope;
mod suggest;
mod tier;
mod visible;

pub use code::{ErrorClass, ErrorCode, UnknownCode};
pub use denial::{CapabilityName, Denial, DenialReason, Fix, LayerName, UnknownLayer};
pub use effect::{
    Answer, Bytes, Effect, ExecRequest, FetchAnswer, FetchRequest, FileAnswer, FileRequest, Matching,
    RedirectMode, Refused,
};
pub use globals::ECMASCRIPT;
pub use id::{
    ApprovalId, CallId, CorrelationId, IdError, KeyId, KeyName, ProfileName, SandboxId, SnapshotId, ToolId,
    ToolName,
};
pub use limit::{
    Breach, Code, ConsoleBytes, ConsoleLines, Cpu, Fetches, FetchesAtOnce, LimitError, LimitKind, Limits,
    Memory, NestedCalls, NestingDepth, ResultSize, Stack, Steps, Unit, Wall,
};
pub use native::{NATIVE_TOOLS, NATIVE_TOOLS_THAT_RUN, is_reserved_tool_name};
pub use outcome::{
    CallReport, Contradicts, Failure, Location, LogLevel, LogLine, Outcome, Receipt, Usage, WallStatus,
    Wallpart,
};
pub use quantity::{
    QuantityError, format_duration_ms, format_size, parse_count, parse_duration_ms, parse_size,
};
pub use risk::{Risk, RiskLevel, RiskReason, UnknownRiskLevel};
pub use scope::{Scope, Scopes, UnknownScope};
pub use suggest::{closest, did_you_mean, shortened};
pub use tier::{Tier, UnknownTier};
pub use visible::{is_harmless, visible};

#[cfg(test)]
mod tests;
