//! The keys of what agents are offered.

use super::{Kind, Narrowing, Row, Used};

pub(super) const MCP: &[Row] = &[
    (
        "mcp.tools",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "native tools that MCP clients are offered, none unless named: run_javascript, describe_runtime, run_command, run_python, sandbox_create, …",
    ),
    (
        "mcp.ask",
        Kind::Texts,
        Narrowing::More,
        Used::Now,
        "native tools whose calls always wait for a person: all but describe_runtime",
    ),
    (
        "mcp.sandbox.image",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "the image of sandboxes that agents use; the host's own programs without one",
    ),
    (
        "mcp.sandbox.network",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "what they reach: none, allow:host[:port],…, git, full; within sandbox.network",
    ),
    (
        "mcp.sandbox.preset",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "their limits: minimal, standard, dev; sandbox.preset where it is empty",
    ),
    (
        "mcp.sandbox.mounts",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "what of the host is in them, HOST:SANDBOX[:ro|rw]; :rw lets every agent change it",
    ),
    (
        "mcp.sandbox.most",
        Kind::Count,
        Narrowing::Smaller,
        Used::Now,
        "sandboxes that one key keeps at once; callers without a key count as one",
    ),
    (
        "mcp.python.image",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "the image of run_python, whose packages it finds; mcp.sandbox.image where it is empty",
    ),
];
