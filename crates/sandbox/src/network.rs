//! What a sandbox can reach, as people type it: `none`, `allow:host[:port],host…`, `git`, `full`, `host`.
//!
//! Hosts are read by the rules of `policy`, so an entry means here what it means for `fetch`. It must never read a text
//! as wider than it says.

use bailiwick_policy::{AddressClass, HostPattern, HostRule, PortRule, Purpose, classify, is_bad_port};
use bailiwick_types::{DenialReason, shortened};

use crate::SpecError;

/// The most hosts of a list.
pub const MOST_HOSTS: usize = 256;

/// The forges that [`Network::Git`] means, on 443.
pub const FORGES: [&str; 4] = ["github.com:443", "gitlab.com:443", "bitbucket.org:443", "codeberg.org:443"];

/// What can be reached over the network.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// These hosts: `name`, or `name:port`.
    Allow(Vec<String>),
    /// The usual forges of code, on 443.
    Git,
    /// Any public host.
    Full,
    /// The host's own network: no wall at all.
    Host,
}

impl Network {
    /// The hosts that are named, as rules: none for the modes that name none. An entry without a port means 80 and 443.
    pub fn rules(&self) -> Result<Vec<HostRule>, SpecError> {
        match self {
            Self::None | Self::Full | Self::Host => Ok(Vec::new()),
            Self::Git => FORGES.iter().map(|host| rule(host)).collect(),
            Self::Allow(hosts) if hosts.is_empty() => Err(SpecError::NoHosts),
            Self::Allow(hosts) if hosts.len() > MOST_HOSTS => {
                Err(SpecError::TooMany { what: "hosts", given: hosts.len(), most: MOST_HOSTS })
            }
            Self::Allow(hosts) => hosts.iter().map(|host| rule(host)).collect(),
        }
    }

    /// Its mode without the hosts: `allow`.
    pub const fn mode(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow(_) => "allow",
            Self::Git => "git",
            Self::Full => "full",
            Self::Host => "host",
        }
    }
}

fn rule(text: &str) -> Result<HostRule, SpecError> {
    let refused = |why: String| SpecError::Host { host: shortened(text), why };
    let rule = HostRule::parse(text, Purpose::Grant).map_err(|error| {
        refused(error.hint().map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}")))
    })?;
    let private = match rule.pattern() {
        HostPattern::Any => return Err(refused("any public host is `full`".to_owned())),
        HostPattern::Block(_) => return Err(refused("name hosts, not blocks of addresses".to_owned())),
        HostPattern::Address(address) => classify(*address) != AddressClass::Public,
        HostPattern::Domain(name) | HostPattern::Wildcard(name) => {
            name == "localhost" || name.ends_with(".localhost")
        }
    };
    if private {
        return Err(refused("it is not public, and only the network `host` reaches such".to_owned()));
    }
    if let PortRule::Exact(port) = rule.port()
        && is_bad_port(port)
    {
        let why = DenialReason::BadPort.meaning();
        return Err(refused(format!(
            "port {port} is never connected to: {why}; name another port, or none for 80 and 443"
        )));
    }
    Ok(rule)
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Allow(hosts) => write!(f, "allow:{}", hosts.join(",")),
            Self::None | Self::Git | Self::Full | Self::Host => f.write_str(self.mode()),
        }
    }
}

impl std::str::FromStr for Network {
    type Err = SpecError;

    /// Reads what was typed; hosts are kept in their normal form.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "git" => Ok(Self::Git),
            "full" => Ok(Self::Full),
            "host" => Ok(Self::Host),
            _ => {
                let hosts = text
                    .strip_prefix("allow:")
                    .ok_or_else(|| SpecError::Network(shortened(text)))?
                    .split(',')
                    .map(|host| host.trim().to_owned())
                    .collect();
                let rules = Self::Allow(hosts).rules()?;
                Ok(Self::Allow(rules.iter().map(ToString::to_string).collect()))
            }
        }
    }
}
