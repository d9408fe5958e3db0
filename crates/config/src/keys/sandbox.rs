//! The keys of command sandboxes.

use bailiwick_policy::Purpose;

use super::{Kind, Narrowing, Row, Used};

pub(super) const SANDBOX: &[Row] = &[
    (
        "sandbox.backends",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "the backends that may run commands: process, and wasm for images of WebAssembly",
    ),
    (
        "sandbox.floor",
        Kind::Tier,
        Narrowing::Smaller,
        Used::Now,
        "the weakest wall that a command may run behind: PROCESS, CONTAINER, USER_KERNEL, MICRO_VM",
    ),
    (
        "sandbox.preset",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "the limits of a sandbox for which nobody says others: minimal, standard, dev",
    ),
    (
        "sandbox.require",
        Kind::Texts,
        Narrowing::More,
        Used::Now,
        "limits that must be held whoever asks: memory, cpu, disk, processes",
    ),
    (
        "sandbox.accept",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "walls that may stand in part where the machine gives no more: identity, kill",
    ),
    (
        "sandbox.network",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "what a sandbox may ask to reach: none, allow, git, full, host",
    ),
    (
        "sandbox.private",
        Kind::Hosts(Purpose::Grant),
        Narrowing::Fewer,
        Used::Now,
        "hosts and ports whose addresses may be private where a sandbox asks for them by name",
    ),
    (
        "sandbox.requests",
        Kind::Hosts(Purpose::Grant),
        Narrowing::Fixed,
        Used::Now,
        "methods and paths of hosts that a sandbox may ask for: a request to such a host has to fit one of these",
    ),
    (
        "sandbox.authority",
        Kind::Switch,
        Narrowing::Fixed,
        Used::Now,
        "give each sandbox an authority of its own, so that requests inside of TLS are seen and secrets can be put in",
    ),
    ("sandbox.most", Kind::Count, Narrowing::Smaller, Used::Now, "sandboxes that are kept at once"),
    (
        "sandbox.idle",
        Kind::Duration,
        Narrowing::Smaller,
        Used::Now,
        "how long a kept sandbox lives that nobody uses",
    ),
    (
        "sandbox.absolute",
        Kind::Duration,
        Narrowing::Smaller,
        Used::Now,
        "how long a kept sandbox lives at most",
    ),
    ("sandbox.ceilings.cpu", Kind::Cores, Narrowing::Smaller, Used::Now, "the most cores of one sandbox"),
    ("sandbox.ceilings.memory", Kind::Size, Narrowing::Smaller, Used::Now, "the most memory of one sandbox"),
    (
        "sandbox.ceilings.disk",
        Kind::Size,
        Narrowing::Smaller,
        Used::Now,
        "the most that the files of one sandbox take",
    ),
    (
        "sandbox.ceilings.timeout",
        Kind::Duration,
        Narrowing::Smaller,
        Used::Now,
        "the longest that one command runs",
    ),
    (
        "sandbox.ceilings.processes",
        Kind::Count,
        Narrowing::Smaller,
        Used::Now,
        "the most processes of one sandbox",
    ),
    (
        "sandbox.ceilings.output",
        Kind::Size,
        Narrowing::Smaller,
        Used::Now,
        "the most that is kept of each stream of one command",
    ),
];
