//! The small closed words of network policy: modes, methods, when to ask.

use serde::Serialize;

/// How far a tool reaches into the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// No fetch at all.
    Blocked,
    /// Only the hosts that are listed.
    Allowlist,
    /// Any public host.
    Strict,
    /// Any host.
    Open,
}

impl NetworkMode {
    /// Every mode with its word, from narrow to wide.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("blocked", Self::Blocked),
        ("allowlist", Self::Allowlist),
        ("strict", Self::Strict),
        ("open", Self::Open),
    ];

    /// The word in documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Allowlist => "allowlist",
            Self::Strict => "strict",
            Self::Open => "open",
        }
    }
}

impl std::fmt::Display for NetworkMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// When a person is asked before an effect. There is no "never": a layer can make asking stricter, not laxer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AskWhen {
    /// Before the first effect of this kind in a call.
    First,
    /// Before every one.
    Always,
}

impl AskWhen {
    /// Every value with its word, from lax to strict.
    pub const WORDS: [(&'static str, Self); 2] = [("first", Self::First), ("always", Self::Always)];

    /// The word in documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Always => "always",
        }
    }
}

/// The methods fetch offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Method {
    /// GET
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
}

impl Method {
    /// Every method with its word.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("GET", Self::Get),
        ("HEAD", Self::Head),
        ("POST", Self::Post),
        ("PUT", Self::Put),
        ("PATCH", Self::Patch),
        ("DELETE", Self::Delete),
        ("OPTIONS", Self::Options),
    ];

    /// The method as it goes over the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }

    /// Reads a method in any letter case.
    pub fn parse(text: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, method)| *method)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A set of methods that is never empty by construction: a rule without methods means all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodSet(u8);

impl MethodSet {
    /// All methods.
    pub const ALL: Self = Self(0b0111_1111);

    /// The set of these methods, or nothing when there are none.
    pub fn of(methods: impl IntoIterator<Item = Method>) -> Option<Self> {
        let bits = methods.into_iter().fold(0, |bits, method| bits | 1 << (method as u8));
        (bits != 0).then_some(Self(bits))
    }

    /// Whether it holds a method.
    pub const fn contains(self, method: Method) -> bool {
        self.0 & (1 << (method as u8)) != 0
    }

    /// Whether it holds all that the other holds.
    pub const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Its members.
    pub fn iter(self) -> impl Iterator<Item = Method> {
        Method::WORDS.into_iter().map(|(_, method)| method).filter(move |method| self.contains(*method))
    }
}
