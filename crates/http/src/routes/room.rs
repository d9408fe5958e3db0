//! Which places need room for a call: each that is posted to stands in exactly one of these three lists.

use crate::mounted;

/// What runs something: code in a cell, whether to give a result, to test it or to look at it; a command, and what one
/// runs in.
pub const RUNS: &[&str] = &[
    "/v1/exec",
    "/v1/execute",
    "/v1/sandboxes",
    "/v1/sandboxes/{sandbox}/exec",
    "/v1/sandboxes/{sandbox}/fork",
    "/v1/validate",
    "/v1/tools/check",
    "/v1/tools/publish",
    "/v1/tools/test",
    "/v1/tools/try",
    "/v1/tools/{tool}/publish",
    "/v1/tools/{tool}/test",
];

/// What runs something for as long as a connection lasts that was upgraded by a `GET`.
pub const UPGRADES: &[&str] = &["/v1/sandboxes/{sandbox}/exec"];

/// What is posted to and runs nothing.
pub const RUNS_NOTHING: &[&str] = &[
    "/v1/approvals/{id}",
    "/v1/audit/retain",
    "/v1/audit/verify",
    "/v1/keys",
    "/v1/sandboxes/{sandbox}/commit",
    "/v1/sandboxes/{sandbox}/discard",
    "/v1/sandboxes/{sandbox}/hibernate",
    "/v1/sandboxes/{sandbox}/ports",
    "/v1/sandboxes/{sandbox}/resume",
    "/v1/sandboxes/{sandbox}/snapshot",
    "/v1/sandboxes/{sandbox}/stop",
    "/v1/tools",
    "/v1/tools/export",
    "/v1/tools/import",
    "/v1/tools/policy",
    "/v1/tools/{tool}/unpublish",
];

/// What may run something, which only its message tells. Whoever sends one has a slot to take when something is about to
/// run, and is not turned away while all are taken: an answer to a question, or word that a call is not wanted any more,
/// has to come through just then.
pub const MAY_RUN: &[&str] = &[mounted::PATH];
