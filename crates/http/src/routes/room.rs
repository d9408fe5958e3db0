//! Which places need room for a call: each that is posted to stands in exactly one of these two lists.

/// What runs something: code in a cell, whether to give a result, to test it or to look at it.
pub const RUNS: &[&str] = &[
    "/v1/execute",
    "/v1/validate",
    "/v1/tools/check",
    "/v1/tools/publish",
    "/v1/tools/test",
    "/v1/tools/try",
    "/v1/tools/{tool}/publish",
    "/v1/tools/{tool}/test",
];

/// What is posted to and runs nothing.
pub const RUNS_NOTHING: &[&str] = &[
    "/v1/approvals/{id}",
    "/v1/audit/retain",
    "/v1/audit/verify",
    "/v1/keys",
    "/v1/tools",
    "/v1/tools/export",
    "/v1/tools/import",
    "/v1/tools/policy",
    "/v1/tools/{tool}/unpublish",
];
