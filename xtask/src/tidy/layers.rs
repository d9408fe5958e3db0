//! The layering and the purity of the crates, as data: who may know whom, and
//! which outside crates have a home. This is the table to change when the
//! architecture does; a row without a reason is not a row.
//!
//! A crate goes by its name without the `bailiwick-` prefix.

/// A crate and what it may depend on within the workspace.
#[derive(Debug)]
pub(crate) struct Layer {
    /// The crate.
    pub(crate) name: &'static str,
    /// What it may know.
    pub(crate) may_know: MayKnow,
    /// Why.
    pub(crate) reason: &'static str,
}

/// The crates of the workspace one may know.
#[derive(Debug)]
pub(crate) enum MayKnow {
    /// These.
    Only(&'static [&'static str]),
    /// All that have a row but these, and itself.
    AllBut(&'static [&'static str]),
}

/// The crate that anybody may know, as a dev-dependency and never else.
pub(crate) const TESTKIT: &str = "testkit";
/// The same for backends: it speaks the interface that they have in common.
pub(crate) const TESTKIT_SANDBOX: &str = "testkit-sandbox";

/// What a sandbox backend may know: demands and how to enforce them.
const BACKEND: MayKnow =
    MayKnow::Only(&["types", "sandbox", "sys", "wire", "redact", "agent", "agent-host", "agent-program"]);
const BACKEND_REASON: &str =
    "a backend enforces demands: it never interprets policy and knows no other backend";

/// What the two doors may know: `core`, and what `core` speaks in.
const DOOR: MayKnow = MayKnow::Only(&[
    "types", "document", "policy", "redact", "config", "cell", "gateway", "sandbox", "tool", "audit", "core",
    "api",
]);

/// Every crate of the workspace, from the ground up.
pub(crate) const LAYERS: &[Layer] = &[
    Layer {
        name: "types",
        may_know: MayKnow::Only(&[]),
        reason: "the words everybody shares stand on nothing",
    },
    Layer {
        name: "document",
        may_know: MayKnow::Only(&["types"]),
        reason: "reads text into values with their places; what they mean is not its business",
    },
    Layer {
        name: "policy",
        may_know: MayKnow::Only(&["types", "document"]),
        reason: "pure: same input, same output, so there is nothing to ask below",
    },
    Layer {
        name: "redact",
        may_know: MayKnow::Only(&["types"]),
        reason: "the door through which text leaves is used by all and uses none",
    },
    Layer {
        name: "config",
        may_know: MayKnow::Only(&["types", "document", "policy"]),
        reason: "settings are documents and hold policy; it knows nobody who is configured",
    },
    Layer {
        name: "sys",
        may_know: MayKnow::Only(&["types"]),
        reason: "syscalls know no policy, no guest and no protocol",
    },
    Layer {
        name: "secrets",
        may_know: MayKnow::Only(&["types", "redact", "config", "sys"]),
        reason: "keeps secret values at rest and hands them out as `Secret` only; it knows nobody who uses one",
    },
    Layer {
        name: "wire",
        may_know: MayKnow::Only(&["types"]),
        reason: "the only crate both sides of the wall share has to be small",
    },
    Layer {
        name: "source",
        may_know: MayKnow::Only(&["types", "wire"]),
        reason: "parses what a stranger wrote, inside a cell; it reaches nothing",
    },
    Layer {
        name: "parser",
        may_know: MayKnow::Only(&["types"]),
        reason: "parses what a guest hands it, inside a cell; it reaches nothing",
    },
    Layer {
        name: "engine",
        may_know: MayKnow::Only(&["types", "wire", "source", "parser"]),
        reason: "runs what a stranger wrote, inside a cell; what it needs from the world it asks of a trait",
    },
    Layer {
        name: "cell",
        may_know: MayKnow::Only(&["types", "wire", "sys", "engine"]),
        reason: "it runs inside the wall, where nothing is decided: it knows a trait, not how it is done",
    },
    Layer {
        name: "gateway",
        may_know: MayKnow::Only(&["types", "document", "policy", "redact", "sys", "config", "sandbox"]),
        reason: "acts for a guest on what policy has checked; it knows no cell, and of sandboxes what they are lent",
    },
    Layer {
        name: "sandbox",
        may_know: MayKnow::Only(&["types", "policy", "redact", "sys"]),
        reason: "turns policy into demands and picks who enforces them; it knows no backend",
    },
    Layer {
        name: "image",
        may_know: MayKnow::Only(&["types", "policy", "config", "sandbox", "sys"]),
        reason: "fetches and unpacks what sandboxes begin with; who runs in it is not its business",
    },
    Layer {
        name: "agent",
        may_know: MayKnow::Only(&["types", "wire", "sys"]),
        reason: "the first process of a sandbox: it runs inside the wall, where nothing is decided",
    },
    Layer {
        name: "agent-program",
        may_know: MayKnow::Only(&[]),
        reason: "a file to be started elsewhere; what it does is the agent's business",
    },
    Layer {
        name: "agent-host",
        may_know: MayKnow::Only(&["types", "wire", "sys", "sandbox"]),
        reason: "talks to agents from outside, behind whichever wall: it knows no backend",
    },
    Layer {
        name: "overlay",
        may_know: MayKnow::Only(&["sys"]),
        reason: "what a sandbox changed of a folder, and writing it there; who asks and who mounted it is not its business",
    },
    Layer { name: "sandbox-process", may_know: BACKEND, reason: BACKEND_REASON },
    Layer { name: "sandbox-container", may_know: BACKEND, reason: BACKEND_REASON },
    Layer { name: "sandbox-gvisor", may_know: BACKEND, reason: BACKEND_REASON },
    Layer { name: "sandbox-microvm", may_know: BACKEND, reason: BACKEND_REASON },
    Layer { name: "sandbox-wasm", may_know: BACKEND, reason: BACKEND_REASON },
    Layer {
        name: "runtime",
        may_know: MayKnow::Only(&["types", "policy", "redact", "cell", "gateway"]),
        reason: "runs one call; it knows no catalogue, no store and no record",
    },
    Layer {
        name: "scan",
        may_know: MayKnow::Only(&["types"]),
        reason: "pure functions over a stranger's text; what follows from a finding is decided elsewhere",
    },
    Layer {
        name: "tool",
        may_know: MayKnow::Only(&["types", "document", "policy", "gateway", "sandbox", "secrets", "wire"]),
        reason: "a tool as its document says it, a command by the words of `sandbox`; it runs nothing and keeps nothing",
    },
    Layer {
        name: "audit",
        may_know: MayKnow::Only(&["types"]),
        reason: "records, their chain and its heads; where they are kept is not its business",
    },
    Layer {
        name: "store",
        may_know: MayKnow::Only(&["types", "audit", "config", "sys"]),
        reason: "rows and records in one file; it reads no document and decides nothing",
    },
    Layer {
        name: "core",
        may_know: MayKnow::Only(&[
            "types", "document", "policy", "redact", "config", "sys", "secrets", "cell", "gateway",
            "runtime", "sandbox", "image", "overlay", "scan", "tool", "audit", "store",
        ]),
        reason: "the pipeline of a call; it knows no door it was called through and no backend by name",
    },
    Layer {
        name: "catalogue",
        may_know: MayKnow::Only(&["types", "document"]),
        reason: "texts and names that ship; they are taken in by the same way as anybody's",
    },
    Layer {
        name: "api",
        may_know: MayKnow::Only(&["types", "core"]),
        reason: "shapes on the wire, made from what core gives and back; it knows neither side of the wire",
    },
    Layer {
        name: "client",
        may_know: MayKnow::Only(&["types", "core", "api"]),
        reason: "asks a server in its own shapes; it knows no server from inside",
    },
    Layer {
        name: "sandbox-remote",
        may_know: MayKnow::Only(&["types", "redact", "sys", "sandbox", "core", "api", "client"]),
        reason: "asks another server in its own shapes; it knows no other backend and decides nothing",
    },
    Layer {
        name: "backends",
        may_know: MayKnow::Only(&[
            "types",
            "redact",
            "config",
            "secrets",
            "sandbox",
            "core",
            "sandbox-process",
            "sandbox-container",
            "sandbox-gvisor",
            "sandbox-wasm",
            "sandbox-microvm",
            "sandbox-remote",
        ]),
        reason: "the one place that names all backends: it hands out settings and decides nothing",
    },
    Layer { name: "mcp", may_know: DOOR, reason: "a door to core; no door knows another" },
    Layer { name: "http", may_know: DOOR, reason: "a door to core; no door knows another" },
    Layer {
        name: "bailiwick",
        may_know: MayKnow::AllBut(&[
            "bench",
            "cli",
            "http",
            "client",
            "fuzz",
            TESTKIT,
            TESTKIT_SANDBOX,
            "xtask",
        ]),
        reason: "the library others build on brings no server, no binary and no test fixtures along",
    },
    Layer {
        name: "cli",
        may_know: MayKnow::AllBut(&["bench", "fuzz", TESTKIT, TESTKIT_SANDBOX, "xtask"]),
        reason: "the binary assembles doors and backends",
    },
    Layer {
        name: "bench",
        may_know: MayKnow::AllBut(&["cli", "fuzz", TESTKIT, TESTKIT_SANDBOX, "xtask"]),
        reason: "measures the library, and the program by starting it; nobody knows it",
    },
    Layer {
        name: TESTKIT,
        may_know: MayKnow::Only(&["types", "document"]),
        reason: "every crate's tests use it, so it may stand on next to nothing",
    },
    Layer {
        name: TESTKIT_SANDBOX,
        may_know: MayKnow::Only(&["types", "sandbox", TESTKIT]),
        reason: "every backend's tests use it, so it may know what they have in common and none of them",
    },
    Layer {
        name: "fuzz",
        may_know: MayKnow::AllBut(&["bench", "cli", TESTKIT, TESTKIT_SANDBOX, "xtask"]),
        reason: "feeds hostile bytes to whoever reads them; nobody knows it",
    },
    Layer {
        name: "xtask",
        may_know: MayKnow::AllBut(&["bench", TESTKIT, TESTKIT_SANDBOX]),
        reason: "generates documents from what the crates register; nobody knows it",
    },
];

/// The crates that do no I/O and know no runtime.
pub(crate) const PURE: &[&str] = &["types", "policy", "document", "scan", "audit"];

/// Outside crates that bring I/O or a runtime. A `*` at the end stands for any rest.
pub(crate) const IMPURE: &[&str] = &[
    "tokio", "tokio-*", "reqwest", "hyper", "hyper-*", "rusqlite", "socket2", "rustix", "nix", "libc",
    "async-*",
];

/// Outside crates that only these crates may depend on.
#[derive(Debug)]
pub(crate) struct Confined {
    /// The outside crates. A `*` at the end stands for any rest.
    pub(crate) packages: &'static [&'static str],
    /// The crates that may depend on them.
    pub(crate) to: &'static [&'static str],
    /// Why nobody else may.
    pub(crate) reason: &'static str,
}

/// Every outside crate that has a home here.
pub(crate) const CONFINED: &[Confined] = &[
    Confined {
        packages: &["wasmtime", "wasmtime-*"],
        to: &["sandbox-wasm"],
        reason: "a compiler is heavy to build and to trust",
    },
    Confined {
        packages: &["bollard", "bollard-*"],
        to: &["sandbox-container"],
        reason: "one crate talks to Docker",
    },
    Confined {
        packages: &["kube", "kube-*"],
        to: &["sandbox-remote"],
        reason: "one crate talks to a cluster",
    },
    Confined { packages: &["rmcp", "rmcp-*"], to: &["mcp"], reason: "one crate speaks MCP" },
    Confined {
        packages: &["clap"],
        to: &["cli", "bench"],
        reason: "what was typed is turned into an Action once",
    },
    Confined {
        packages: &["reqwest"],
        to: &["bench"],
        reason: "a client without the guard is there to be measured beside only",
    },
    Confined { packages: &["axum", "axum-*"], to: &["http", "mcp"], reason: "core has no HTTP" },
    Confined {
        packages: &["rquickjs", "rquickjs-*"],
        to: &["engine"],
        reason: "no guest code is run outside a cell",
    },
    Confined {
        packages: &["oxc_*"],
        to: &["source"],
        reason: "a recursive parser meets guest bytes inside a cell only",
    },
    Confined {
        packages: &["html5ever", "markup5ever", "roxmltree"],
        to: &["parser"],
        reason: "a parser of markup meets a guest's text inside a cell only",
    },
    Confined { packages: &["rusqlite"], to: &["store"], reason: "one crate speaks SQL" },
    Confined { packages: &["seccompiler"], to: &["sys"], reason: "filters of system calls have one home" },
    Confined { packages: &["landlock"], to: &["sys"], reason: "what a wall is built of has one home" },
];

/// Confined crates, and whose tests may use them to do what an attacker would.
pub(crate) const ATTACKED_BY: &[(&str, &str)] = &[("rusqlite", "core")];

/// Crates whose tests need another one in its place, which they do not know otherwise.
pub(crate) const TESTED_WITH: &[(&str, &str)] = &[("sandbox-wasm", "sandbox-process")];

/// The row of the crate called `name`.
pub(crate) fn layer(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

impl Layer {
    /// Whether the crate may know the one called `other`.
    pub(crate) fn allows(&self, other: &str) -> bool {
        match self.may_know {
            MayKnow::Only(known) => known.contains(&other),
            MayKnow::AllBut(unknown) => {
                other != self.name && !unknown.contains(&other) && layer(other).is_some()
            }
        }
    }
}

/// The packages that go by their row's name without a prefix.
const UNPREFIXED: &[&str] = &["bailiwick", "xtask"];

/// A package of ours by the name it has in the table; none for one from outside.
pub(crate) fn own_name(package: &str) -> Option<&str> {
    match package.strip_prefix("bailiwick-") {
        Some(name) => Some(name),
        None => UNPREFIXED.contains(&package).then_some(package),
    }
}

/// Whether `package` is what a pattern of these tables stands for.
pub(crate) fn stands_for(pattern: &str, package: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => package.starts_with(start),
        None => package == pattern,
    }
}
