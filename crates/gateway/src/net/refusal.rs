//! Turns a no of the guard, or a failure on the way, into what the guest and the record see.
//!
//! What policy or the guard refuses is a denial (`NET_DENIED`); what the world does not give is a failure
//! (`NET_FAILED`). A denial names the URL that was asked for, query and all: whoever has secrets cleans it before it is
//! handed on. Nothing here may repeat what a header held.

use bailiwick_policy::{Capability, FetchQuestion, Question as _};
use bailiwick_types::{Denial, DenialReason, ErrorCode, LayerName, Refused};

/// A no that no file can change.
pub(super) fn guard(reason: DenialReason, method: &str, url: &str) -> Refused {
    Refused::of(Denial {
        code: ErrorCode::NetDenied,
        capability: Capability::NetFetch.denial_name(),
        asked: FetchQuestion { method, url }.asked(),
        rule: "guard".to_owned(),
        layer: LayerName::Guard,
        reason,
        fix: None,
    })
}

/// An allowed request that did not come to its end.
pub(super) fn failed(reason: DenialReason, message: impl Into<String>) -> Refused {
    Refused::failed(ErrorCode::NetFailed, reason.word(), message)
}

/// A request that is none.
pub(super) fn malformed(reason: &'static str, message: impl Into<String>) -> Refused {
    Refused::failed(ErrorCode::InvalidInput, reason, message)
}
