//! The closed registry of capabilities: one table from which the enum, the globals a policy grants, the
//! reference document and the output of `bailiwick limits` all come.
//!
//! Adding a capability is adding a row; the compiler then names every place that must decide about it.

mod pattern;

pub use pattern::{CapabilityPattern, PatternError};

use bailiwick_types::CapabilityName;

/// What kind of power a capability is; the risk rubric speaks of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Computes; reaches nothing outside the call.
    Pure,
    /// Reaches the network.
    Network,
    /// Touches files.
    File,
    /// Anything else that is not dangerous by itself.
    Ordinary,
    /// Lets code make code, which static checks cannot see.
    Reflection,
    /// Can destroy, or leave the sandbox surface.
    Critical,
}

impl Class {
    /// The class as a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Network => "network",
            Self::File => "file",
            Self::Ordinary => "ordinary",
            Self::Reflection => "reflection",
            Self::Critical => "critical",
        }
    }
}

/// What grants a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grant {
    /// The allow list.
    Listed,
    /// The network mode: any but `blocked`, and for `allowlist` at least one host.
    Network,
    /// The switch `fileRead`.
    FileRead,
    /// The switch `fileWrite`.
    FileWrite,
    /// The switch `destructive`.
    Destructive,
}

impl Grant {
    /// The override that grants it, for a message.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Listed => "addAllow",
            Self::Network => "network",
            Self::FileRead => "fileRead",
            Self::FileWrite => "fileWrite",
            Self::Destructive => "destructive",
        }
    }
}

/// What the shipped baseline says about a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Shipped {
    /// On the allow list.
    Allowed,
    /// Neither allowed nor denied by a list; its switch decides.
    Switch,
    /// On the deny list.
    DenyEntry,
}

/// Whether this build can install what a capability names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Build {
    /// It can.
    Has,
    /// It cannot: nothing grants, proposes or rates the capability. The name is kept, so that a deny entry may use it.
    Lacks,
}

macro_rules! registry {
    ($($variant:ident $name:literal $class:ident $grant:ident $shipped:ident $build:ident [$($global:literal),*] $doc:literal;)+) => {
        /// A named power of JS code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Capability { $(#[doc = $doc] $variant,)+ }

        impl Capability {
            /// Every capability, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in documents.
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }

            /// Its class.
            pub const fn class(self) -> Class { match self { $(Self::$variant => Class::$class,)+ } }

            /// What grants it.
            pub const fn grant(self) -> Grant { match self { $(Self::$variant => Grant::$grant,)+ } }

            /// What it lets code do, in a few words.
            pub const fn doc(self) -> &'static str { match self { $(Self::$variant => $doc,)+ } }

            /// The JS names that exist only with it.
            pub const fn globals(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($global),*],)+ }
            }

            /// Whether this build can install it. What it cannot install is never granted, proposed or rated.
            pub const fn is_available(self) -> bool {
                matches!(match self { $(Self::$variant => Build::$build,)+ }, Build::Has)
            }

            pub(crate) const fn shipped(self) -> Shipped {
                match self { $(Self::$variant => Shipped::$shipped,)+ }
            }
        }
    };
}

registry! {
    Console "console" Pure Listed Allowed Has ["console"] "write lines to the call's log";
    Url "url" Pure Listed Allowed Has ["URL", "URLSearchParams"] "take URLs apart and put them together";
    Encoding "encoding" Pure Listed Allowed Has ["TextEncoder", "TextDecoder", "atob", "btoa"] "turn text into bytes and back";
    Clock "clock" Pure Listed Allowed Has ["Date"] "read the time";
    Random "random" Pure Listed Allowed Has ["Math.random"] "draw numbers that are not secret";
    CryptoRandom "crypto.random" Pure Listed Allowed Has ["crypto.randomUUID", "crypto.getRandomValues"] "draw numbers fit for secrets";
    CryptoDigest "crypto.digest" Pure Listed Allowed Has ["crypto.subtle.digest"] "hash with SHA-2";
    CryptoHmac "crypto.hmac" Pure Listed Allowed Has ["crypto.subtle.importKey", "crypto.subtle.sign", "crypto.subtle.verify"] "sign and verify with HMAC";
    ParserHtml "parser.html" Pure Listed Allowed Has ["safety.parser.html"] "parse HTML";
    ParserXml "parser.xml" Pure Listed Allowed Has ["safety.parser.xml"] "parse XML";
    ParserCsv "parser.csv" Pure Listed Allowed Has ["safety.parser.csv"] "parse and write CSV";
    ParserYaml "parser.yaml" Pure Listed Allowed Has ["safety.parser.yaml"] "parse YAML";
    NetFetch "net.fetch" Network Network Switch Has ["fetch", "Headers", "Request", "Response", "FormData", "AbortController", "AbortSignal"] "make HTTP requests, as far as `network` and `hosts` say";
    FsRead "fs.read" File FileRead Switch Has ["safety.fs.readText", "safety.fs.readBytes", "safety.fs.readJson", "safety.fs.list", "safety.fs.exists", "safety.fs.stat", "safety.fs.lineCount", "safety.fs.slice", "safety.fs.grep", "safety.fs.find", "safety.fs.search", "safety.fs.cut", "safety.fs.sort", "safety.fs.workspace", "safety.fs.roots"] "read files of the workspace and of the operator's read roots";
    FsWrite "fs.write" File FileWrite Switch Has ["safety.fs.writeText", "safety.fs.writeBytes", "safety.fs.appendText", "safety.fs.editText", "safety.fs.copy", "safety.fs.mkdir", "safety.fs.move"] "write files of the workspace";
    FsDelete "fs.delete" Critical Destructive DenyEntry Has ["safety.fs.delete", "safety.fs.deleteDir"] "delete files of the workspace, and move onto an existing one";
    Timers "timers" Pure Listed DenyEntry Has ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] "wait; the wall ends every call anyway";
    Eval "eval" Reflection Listed DenyEntry Has ["eval", "Function"] "run text as code (eval, Function and its cousins)";
    ToolsCall "tools.call" Ordinary Listed DenyEntry Lacks ["tools"] "call other published tools";
    EnvRead "env.read" Critical Listed DenyEntry Lacks ["env"] "read the environment variables the operator offers";
    ProcessExec "process.exec" Critical Listed DenyEntry Has ["sandbox.exec"] "run a command, in a command sandbox, never on the host";
}

impl Capability {
    /// Finds a capability by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|capability| capability.name() == name)
    }

    /// The name as it stands in a denial.
    pub const fn denial_name(self) -> CapabilityName {
        CapabilityName::from_registry(self.name())
    }

    const fn bit(self) -> u32 {
        1 << (self as u8)
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of capabilities. The registry is closed, so a set is a few bits and set questions are exact: two
/// patterns overlap if and only if their sets do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CapabilitySet(u32);

impl CapabilitySet {
    /// Nothing.
    pub const EMPTY: Self = Self(0);

    /// One capability.
    pub const fn of(capability: Capability) -> Self {
        Self(capability.bit())
    }

    /// Whether it holds a capability.
    pub const fn contains(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Whether it holds none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many it holds.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// What either holds.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both hold.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What this holds and the other does not.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The members that this build can install.
    #[must_use]
    pub fn available(self) -> Self {
        self.iter().filter(|capability| capability.is_available()).collect()
    }

    /// Its members, in the order of the registry.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.iter().copied().filter(move |capability| self.contains(*capability))
    }

    /// The names of its members, for a message.
    pub fn names(self) -> String {
        self.iter().map(Capability::name).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<Capability> for CapabilitySet {
    fn from_iter<I: IntoIterator<Item = Capability>>(iter: I) -> Self {
        iter.into_iter().fold(Self::EMPTY, |set, capability| set.union(Self::of(capability)))
    }
}
