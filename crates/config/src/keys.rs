//! Every key of the operator's file, as one table.

mod images;
mod mcp;
mod sandbox;

use std::sync::LazyLock;

use bailiwick_policy::Purpose;
use bailiwick_types::LimitKind;

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An address and port to listen on.
    Listen,
    /// A duration.
    Duration,
    /// One of the limits of a call.
    Limit(LimitKind),
    /// A risk level.
    Level,
    /// A network mode.
    Mode,
    /// Network modes.
    Modes,
    /// Capability patterns.
    Patterns,
    /// Host rules.
    Hosts(Purpose),
    /// Absolute folders.
    Folders,
    /// `never`, `first` or `always`.
    Ask,
    /// Plain texts.
    Texts,
    /// One plain text; an empty one is none.
    Text,
    /// `true` or `false`.
    Switch,
    /// A number of things, at least one.
    Count,
    /// A number of things; 0 is no bound at all, so that nobody's folder may set it.
    CountOrNone,
    /// A size in bytes, at least one.
    Size,
    /// A size in bytes, at least one; or `auto`, which derives it from the machine.
    SizeOrAuto,
    /// Cores, more than none: `0.5`.
    Cores,
    /// How strong a wall is.
    Tier,
}

/// How a folder's own file may change a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowing {
    /// Not at all.
    Fixed,
    /// To something smaller, lower or stricter.
    Smaller,
    /// To some of what is there.
    Fewer,
    /// More of the same is added; nothing is taken away.
    More,
}

/// Whether anything consumes a key yet. A key that nothing uses is never claimed to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Used {
    /// It takes effect.
    Now,
    /// It is read and checked, and waits for this part.
    WaitsFor(&'static str),
}

/// One key.
#[derive(Debug, Clone)]
pub struct Key {
    /// Its path: `limits.wall`.
    pub path: String,
    /// What it holds.
    pub kind: Kind,
    /// How a folder's file may change it.
    pub narrowing: Narrowing,
    /// Whether anything consumes it.
    pub used: Used,
    /// What it means.
    pub doc: &'static str,
}

impl Key {
    /// The environment variable that sets it: `BAILIWICK_LIMITS_WALL`.
    pub fn variable(&self) -> String {
        let mut name = String::from("BAILIWICK_");
        for c in self.path.chars() {
            match c {
                '.' => name.push('_'),
                c if c.is_ascii_uppercase() => {
                    name.push('_');
                    name.push(c);
                }
                c => name.push(c.to_ascii_uppercase()),
            }
        }
        name
    }
}

/// Path, kind, narrowing, use, meaning.
type Row = (&'static str, Kind, Narrowing, Used, &'static str);

/// The keys that are not one per limit.
const PLAIN: &[Row] = &[
    (
        "server.listen",
        Kind::Listen,
        Narrowing::Fixed,
        Used::Now,
        "where the server listens; never reachable by a tool",
    ),
    (
        "server.hosts",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "names by which clients reach the server, beside its own address; others are refused",
    ),
    (
        "server.origins",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "web pages that may ask the server, as origins: https://tools.example",
    ),
    (
        "server.keyless",
        Kind::Switch,
        Narrowing::Fixed,
        Used::Now,
        "whether a caller on this machine who shows no key may call published tools",
    ),
    (
        "server.tls",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "the server's certificates and their key, as two PEM files; read again when they change",
    ),
    (
        "server.jwt.issuer",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "who issues the tokens that count beside keys; empty where none do",
    ),
    ("server.jwt.audience", Kind::Text, Narrowing::Fixed, Used::Now, "whom such a token must be meant for"),
    (
        "server.jwt.jwks",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "where the issuer's public keys are: an https:// address, or a file",
    ),
    (
        "server.jwt.scopes",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "the scopes that such a token can have at most",
    ),
    ("server.body", Kind::Size, Narrowing::Fixed, Used::Now, "the largest body of a request"),
    (
        "server.bodies",
        Kind::SizeOrAuto,
        Narrowing::Fixed,
        Used::Now,
        "bytes of all request bodies in memory at once; one caller may hold a quarter, callers without a key together half",
    ),
    (
        "server.perSecond",
        Kind::Count,
        Narrowing::Fixed,
        Used::Now,
        "requests a second that one key may make in the long run",
    ),
    ("server.atOnce", Kind::Count, Narrowing::Fixed, Used::Now, "requests that one key may have under way"),
    (
        "server.calls",
        Kind::Count,
        Narrowing::Fixed,
        Used::Now,
        "calls that are under way at once, of all callers; more are told BUSY",
    ),
    (
        "server.grace",
        Kind::Duration,
        Narrowing::Fixed,
        Used::Now,
        "how long calls that run may go on when the server is told to end",
    ),
    (
        "server.preset",
        Kind::Text,
        Narrowing::Fixed,
        Used::Now,
        "which tools of the catalogue a first start publishes: starter, files, web, everything, none",
    ),
    ("ceilings.risk", Kind::Level, Narrowing::Smaller, Used::Now, "the highest risk that may be published"),
    ("ceilings.network", Kind::Modes, Narrowing::Fewer, Used::Now, "the network modes a tool may choose"),
    ("policy.allow", Kind::Patterns, Narrowing::Fewer, Used::Now, "capabilities every tool has"),
    (
        "policy.deny",
        Kind::Patterns,
        Narrowing::More,
        Used::Now,
        "capabilities a tool must remove from here to get",
    ),
    (
        "policy.network",
        Kind::Mode,
        Narrowing::Smaller,
        Used::Now,
        "the network mode of a tool that says nothing",
    ),
    (
        "policy.hosts.allow",
        Kind::Hosts(Purpose::Grant),
        Narrowing::Fewer,
        Used::Now,
        "hosts every tool may reach, under `allowlist`",
    ),
    (
        "policy.hosts.never",
        Kind::Hosts(Purpose::Refuse),
        Narrowing::More,
        Used::Now,
        "hosts no tool may ever reach",
    ),
    (
        "policy.hosts.reserved",
        Kind::Hosts(Purpose::Refuse),
        Narrowing::Fewer,
        Used::Now,
        "metadata addresses and own listeners that tools may reach all the same",
    ),
    (
        "policy.ask.net",
        Kind::Ask,
        Narrowing::Smaller,
        Used::Now,
        "ask a person before requests: never, first, always",
    ),
    (
        "policy.ask.fs",
        Kind::Ask,
        Narrowing::Smaller,
        Used::Now,
        "ask a person before file accesses: never, first, always",
    ),
    (
        "fetch.proxy",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "the proxy that all requests go through, at most one; it resolves names, so addresses are not pinned",
    ),
    (
        "fetch.roots",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "files of root certificates (PEM) that are believed beside the platform's",
    ),
    (
        "fetch.nameservers",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "name servers that are asked instead of the machine's",
    ),
    (
        "fs.readRoots",
        Kind::Folders,
        Narrowing::Fewer,
        Used::Now,
        "folders outside the workspace that `fileRead` covers",
    ),
    (
        "fs.sharedWorkspaces",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "names of workspaces that every caller shares; every other name is private to its caller",
    ),
    (
        "fs.mounts",
        Kind::Folders,
        Narrowing::Fewer,
        Used::Now,
        "host folders that may be mounted into command sandboxes",
    ),
    (
        "approvals.autoFrom",
        Kind::Level,
        Narrowing::Smaller,
        Used::Now,
        "the level from which a call waits for a person",
    ),
    ("approvals.required", Kind::Texts, Narrowing::More, Used::Now, "tools that always wait for a person"),
    (
        "approvals.deadline",
        Kind::Duration,
        Narrowing::Smaller,
        Used::Now,
        "how long a call waits for an answer; then it is a no",
    ),
    (
        "approvals.elicitation",
        Kind::Level,
        Narrowing::Smaller,
        Used::Now,
        "the level up to which an MCP client's own dialogue counts, for keys made with --dialogue and for stdio",
    ),
    (
        "approvals.notify",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "where a question that waits for a person is announced: absolute paths of programs, https:// addresses",
    ),
    (
        "secrets.env",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "environment variables that may stand in for secrets",
    ),
    (
        "audit.witness",
        Kind::Texts,
        Narrowing::Fixed,
        Used::Now,
        "where signed heads of the record go beside the data folder: absolute paths of files, https:// addresses",
    ),
    (
        "audit.keep",
        Kind::Duration,
        Narrowing::Fixed,
        Used::Now,
        "how long records are kept; older ones are removed up to a signed head",
    ),
    (
        "audit.reserve",
        Kind::SizeOrAuto,
        Narrowing::Fixed,
        Used::Now,
        "disk space of the data directory that is kept for the operator: below it other callers are refused",
    ),
    (
        "audit.hourly",
        Kind::SizeOrAuto,
        Narrowing::Fixed,
        Used::Now,
        "bytes that one caller may add to the audit log in an hour; callers without a key count as one, the operator is not bounded",
    ),
];

/// Every key, in the order of the documented file.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let limits = |section: &str| {
        let section = section.to_owned();
        LimitKind::ALL.iter().map(move |kind| Key {
            path: format!("{section}.{}", kind.key()),
            kind: Kind::Limit(*kind),
            narrowing: Narrowing::Smaller,
            used: Used::Now,
            doc: kind.doc(),
        })
    };
    let mut keys: Vec<Key> = Vec::new();
    let (server, rest): (Vec<_>, Vec<_>) = PLAIN.iter().partition(|(path, ..)| path.starts_with("server."));
    let key = |(path, kind, narrowing, used, doc): &Row| Key {
        path: (*path).to_owned(),
        kind: *kind,
        narrowing: *narrowing,
        used: *used,
        doc,
    };
    // `server` first, then limits and ceilings, then the rest.
    keys.extend(server.into_iter().map(key));
    keys.extend(limits("limits"));
    keys.extend(limits("ceilings"));
    let (before, after): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|(path, ..)| is_before_sandboxes(path));
    keys.extend(before.into_iter().map(key));
    keys.extend(sandbox::SANDBOX.iter().map(key));
    keys.extend(images::IMAGES.iter().map(key));
    let (approvals, after): (Vec<_>, Vec<_>) =
        after.into_iter().partition(|(path, ..)| path.starts_with("approvals."));
    keys.extend(approvals.into_iter().map(key));
    keys.extend(mcp::MCP.iter().map(key));
    keys.extend(after.into_iter().map(key));
    keys
});

/// Sandboxes come behind the folders that may be mounted into them.
fn is_before_sandboxes(path: &str) -> bool {
    ["ceilings.", "policy.", "fetch.", "fs."].iter().any(|section| path.starts_with(section))
}
