//! Every "no" of the policy is one kind of thing: a [`Denial`] with the rule that said it, the layer the
//! rule came from, and the narrowest change that would allow it.
//!
//! It looks the same in a JS exception, an exec result, HTTP, MCP and the audit record.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{ErrorCode, ProfileName, RiskLevel};

/// A refusal by policy. Made by the policy crate's decision, carried unchanged to whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// `CAPABILITY_DENIED`, `NET_DENIED` or `FS_DENIED`.
    pub code: ErrorCode,
    /// The capability that was needed.
    pub capability: CapabilityName,
    /// What was asked, in one line: `GET https://evil.test/`.
    pub asked: String,
    /// The rule that said no: a key of the policy (`hosts`, `network`, `deny`) or a part of the guard.
    pub rule: String,
    /// Whose rule it is.
    pub layer: LayerName,
    /// Why, as a stable word.
    pub reason: DenialReason,
    /// The narrowest change that would allow it; `null` when nothing a tool may declare would.
    pub fix: Option<Fix>,
}

/// The narrowest widening that would turn a denial into a yes, and what it would cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What to add to the tool's `overrides`: lists are appended to, other fields replaced.
    pub overrides: serde_json::Value,
    /// The risk level the tool would then have.
    pub risk: RiskLevel,
}

/// The name of a capability, as the policy's closed registry spells it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CapabilityName(Cow<'static, str>);

impl CapabilityName {
    /// Names a capability of the registry. Only the policy crate's table should call this.
    pub const fn from_registry(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CapabilityName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which layer of the policy a rule came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerName {
    /// Not a layer at all: a rule that no file can change (`guard`).
    Guard,
    /// The operator's file.
    Baseline,
    /// A named profile of the operator's file (`profile:web`).
    Profile(ProfileName),
    /// The tool's own overrides.
    Tool,
    /// What a command sandbox was asked for with (`sandbox`).
    Sandbox,
}

impl std::fmt::Display for LayerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Guard => f.write_str("guard"),
            Self::Baseline => f.write_str("baseline"),
            Self::Profile(name) => write!(f, "profile:{name}"),
            Self::Tool => f.write_str("tool"),
            Self::Sandbox => f.write_str("sandbox"),
        }
    }
}

/// A layer name that is none of `guard`, `baseline`, `profile:NAME`, `tool`, `sandbox`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a policy layer; layers are guard, baseline, profile:NAME, tool and sandbox")]
pub struct UnknownLayer(pub String);

impl std::str::FromStr for LayerName {
    type Err = UnknownLayer;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownLayer(text.to_owned());
        match text {
            "guard" => Ok(Self::Guard),
            "baseline" => Ok(Self::Baseline),
            "tool" => Ok(Self::Tool),
            "sandbox" => Ok(Self::Sandbox),
            other => {
                let name = other.strip_prefix("profile:").ok_or_else(unknown)?;
                ProfileName::parse(name).map(Self::Profile).map_err(|_| unknown())
            }
        }
    }
}

impl Serialize for LayerName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LayerName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

macro_rules! reasons {
    ($($variant:ident $name:literal $meaning:literal;)+) => {
        /// Why something was refused or failed, as a stable word for people, metrics and programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum DenialReason {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl DenialReason {
            /// Every reason, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable word, for example `host-not-allowed`.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence for people.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

reasons! {
    NotGranted "not-granted" "no layer grants this capability";
    DenyEntry "deny-entry" "a deny entry names this capability, and deny is looked at first";
    NotInThisBuild "not-in-this-build" "this build does not have this capability, so nothing can grant it";
    NetworkBlocked "network-blocked" "the network mode is `blocked`, so there is no fetch at all";
    HostNotAllowed "host-not-allowed" "no entry of `hosts` matches this host and port";
    HostNever "host-never" "the operator lists this host as never to be reached";
    MethodNotAllowed "method-not-allowed" "the entries that match this host do not list this method";
    PathNotAllowed "path-not-allowed" "the entries that match this host do not cover this path";
    AmbiguousPath "ambiguous-path" "the path holds an encoded slash, backslash, percent sign or NUL, which a server may read differently from us";
    PrivateAddress "private-address" "the address is not a public one, and no entry marks it `private: true`";
    MetadataAddress "metadata-address" "the address hands out cloud credentials";
    UnusableAddress "unusable-address" "the address can never be the other end of a request";
    OwnListener "own-listener" "the address is one of Bailiwick's own listeners";
    BadPort "bad-port" "the URL standard refuses this port";
    Scheme "scheme" "only http and https exist here";
    Userinfo "userinfo" "a URL with a user name or password is refused";
    BadUrl "bad-url" "this is not a URL";
    BadMethod "bad-method" "this is not one of the methods fetch offers";
    BadPath "bad-path" "the path is empty, too long or holds a NUL";
    OutsideRoots "outside-roots" "the path lies in no folder that this tool may use";
    OutsideBasePath "outside-base-path" "the path lies outside the tool's basePath";
    ReadOnlyRoot "read-only-root" "the folder is a read root; writing happens only in the workspace";
    TooManyRedirects "too-many-redirects" "the request was redirected too often";
    Downgrade "downgrade" "a redirect led from https to http";
    DnsFailed "dns-failed" "the name could not be resolved";
    TooLarge "too-large" "the answer is larger than its limit";
    Timeout "timeout" "the answer took longer than its limit";
    Tls "tls" "the TLS handshake or certificate failed";
    ConnectFailed "connect-failed" "no connection could be made";
    BadAnswer "bad-answer" "what came back is not an HTTP answer";
    SealedPlace "sealed-place" "a sealed secret may be used only in the place and for the hosts that its owner named";
    SealedValue "sealed-value" "the value of a sealed secret is in the request itself; it goes only to its hosts, in its place, by its placeholder";
    ServerName "server-name" "the TLS client names no server, or another one than the connection was allowed for";
    HostMismatch "host-mismatch" "the request names another host than its connection was allowed for";
    HiddenRequest "hidden-request" "rules on methods or paths hold for this host, and its requests cannot be seen inside of TLS";
    BadRequest "bad-request" "the request is malformed, or can be read in more than one way";
    BadProtocol "bad-protocol" "what was sent is neither TLS nor HTTP";
    TooMany "too-many-connections" "the sandbox has as many connections open as it may have";
    Declined "declined" "a person was asked and said no";
    Unanswered "unanswered" "a person was asked and nobody answered in time";
    NobodyToAsk "nobody-to-ask" "a person has to be asked, and there is nobody to ask";
}

impl std::fmt::Display for DenialReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
