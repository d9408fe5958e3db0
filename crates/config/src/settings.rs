//! Settings as the types their consumers take.

/// Takes the value of one key, which the shipped file guarantees to be there and of its kind.
macro_rules! take {
    ($config:expr, $path:literal, $kind:ident) => {
        match $config.get($path).map(|setting| &setting.value) {
            Some(Value::$kind(value)) => value.clone(),
            _ => {
                return Err(ConfigError::setting(
                    concat!("`", $path, "` has no value"),
                    "the shipped settings are damaged",
                ));
            }
        }
    };
}

mod images;
mod mcp;
mod sandbox;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_policy::{AskWhen, Baseline, Ceilings, Layer, Sourced};
use bailiwick_types::{LayerName, LimitKind, Limits, RiskLevel, Scopes};

pub use self::images::ImageSettings;
pub use self::mcp::{AgentSandboxes, Mcp};
pub use self::sandbox::{
    ContainerSettings, GvisorSettings, MicrovmSettings, RemoteSettings, SandboxCeilings, SandboxSettings,
};
use crate::error::{ConfigError, SettingProblem};
use crate::merge::{Config, Origin};
use crate::value::Value;

/// What the operator's file comes to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How the server is reached, and by whom.
    pub server: Server,
    /// The operator's side of policy.
    pub baseline: Arc<Baseline>,
    /// Who is asked, and when.
    pub approvals: Approvals,
    /// What MCP clients are offered beside published tools.
    pub mcp: Mcp,
    /// How requests leave.
    pub fetch: Fetch,
    /// Environment variables that may stand in for secrets.
    pub secret_variables: Vec<String>,
    /// How the record is kept.
    pub audit: Audit,
    /// Where and how commands run.
    pub sandbox: SandboxSettings,
    /// Names of workspaces that every caller shares.
    pub shared_workspaces: Vec<String>,
    /// What commands may begin with.
    pub images: ImageSettings,
}

/// The server section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names by which clients reach it, beside its address.
    pub hosts: Vec<String>,
    /// Web pages that may ask it.
    pub origins: Vec<String>,
    /// Whether a caller on this machine without a key may call published tools.
    pub keyless: bool,
    /// Its certificates and their key.
    pub tls: Option<TlsFiles>,
    /// Tokens that count beside keys.
    pub jwt: Option<Jwt>,
    /// The largest body of a request, in bytes.
    pub body_bytes: u64,
    /// Bytes of all bodies in memory at once; none derives it from the machine.
    pub bodies_bytes: Option<u64>,
    /// Requests a second that one key may make.
    pub per_second: u32,
    /// Requests that one key may have under way.
    pub at_once: u32,
    /// Calls that are under way at once, of all callers.
    pub calls: u32,
    /// How long calls may go on when the server is told to end, in milliseconds.
    pub grace_ms: u64,
    /// Which tools a first start publishes.
    pub preset: String,
}

/// Files of a server that speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its certificate and those behind it.
    pub certificates: PathBuf,
    /// The key of the first.
    pub key: PathBuf,
}

/// Tokens of an OAuth server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jwt {
    /// Who issues them.
    pub issuer: String,
    /// Whom they must be meant for.
    pub audience: String,
    /// Where the issuer's public keys are.
    pub jwks: JwksPlace,
    /// The scopes they can have at most.
    pub scopes: Scopes,
}

/// Where public keys of an issuer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JwksPlace {
    /// A file.
    File(PathBuf),
    /// An https address.
    Address(String),
}

/// The audit section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Who gets signed heads beside the data folder.
    pub witnesses: Vec<Witness>,
    /// How long records are kept, in milliseconds.
    pub keep_ms: u64,
    /// Disk space that is kept for the operator, in bytes; none derives it from the disk.
    pub reserve_bytes: Option<u64>,
    /// Bytes that one caller may add to the audit log in an hour; none derives it from the disk.
    pub hourly_bytes: Option<u64>,
}

/// Somebody outside who gets the signed heads of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Witness {
    /// A file that is appended to.
    File(PathBuf),
    /// An address that gets a POST.
    Address(String),
}

/// The fetch section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetch {
    /// The proxy that all requests go through.
    pub proxy: Option<String>,
    /// Files of root certificates beside the platform's.
    pub roots: Vec<PathBuf>,
    /// Name servers instead of the machine's.
    pub nameservers: Vec<SocketAddr>,
}

/// The approvals section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvals {
    /// The level from which a call waits for a person.
    pub auto_from: RiskLevel,
    /// Tools that always wait.
    pub required: Vec<String>,
    /// How long a call waits, in milliseconds.
    pub deadline_ms: u64,
    /// The level up to which an MCP client's own dialogue counts.
    pub elicitation: RiskLevel,
    /// Where a waiting approval is announced.
    pub notify: Vec<Notify>,
}

/// Somebody who is told of a question that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notify {
    /// A program that is started, with the question on its input.
    Program(PathBuf),
    /// An address that gets the question by POST.
    Address(String),
}

impl Settings {
    pub(crate) fn from_config(config: &Config, files: &[PathBuf]) -> Result<Self, ConfigError> {
        let server = server(config)?;
        let limits = limits(config, "limits")?;
        let ceilings = limits_within(config, limits)?;
        let mut layer = Layer::empty(LayerName::Baseline, document_name(files));
        layer.set_lists(
            take!(config, "policy.allow", Patterns),
            take!(config, "policy.deny", Patterns),
            take!(config, "policy.hosts.allow", Hosts),
        );
        layer.set_network(stated(config, "policy.network", take!(config, "policy.network", Mode)));
        let ask = |when: Option<AskWhen>, path: &str| when.map(|when| stated(config, path, when));
        layer.set_ask(
            ask(take!(config, "policy.ask.net", Ask), "policy.ask.net"),
            ask(take!(config, "policy.ask.fs", Ask), "policy.ask.fs"),
        );
        let baseline = Arc::new(Baseline {
            layer: Arc::new(layer),
            profiles: config.profiles().map(|(name, profile, _)| (name.clone(), profile.clone())).collect(),
            limits,
            ceilings: Ceilings {
                limits: ceilings,
                risk: take!(config, "ceilings.risk", Level),
                networks: take!(config, "ceilings.network", Modes),
            },
            never: take!(config, "policy.hosts.never", Hosts),
            reserved: take!(config, "policy.hosts.reserved", Hosts),
            own_listeners: vec![server.listen],
            read_roots: take!(config, "fs.readRoots", Folders),
        });
        let approvals = Approvals {
            auto_from: take!(config, "approvals.autoFrom", Level),
            required: take!(config, "approvals.required", Texts),
            deadline_ms: take!(config, "approvals.deadline", Duration),
            elicitation: take!(config, "approvals.elicitation", Level),
            notify: notify(take!(config, "approvals.notify", Texts))?,
        };
        let mcp = Mcp::from_config(config)?;
        let fetch = Fetch::read(
            take!(config, "fetch.proxy", Texts),
            take!(config, "fetch.roots", Texts),
            &take!(config, "fetch.nameservers", Texts),
        )?;
        let secret_variables = take!(config, "secrets.env", Texts);
        let audit = Audit {
            witnesses: witnesses(take!(config, "audit.witness", Texts))?,
            keep_ms: take!(config, "audit.keep", Duration),
            reserve_bytes: take!(config, "audit.reserve", SizeOrAuto),
            hourly_bytes: take!(config, "audit.hourly", SizeOrAuto),
        };
        let sandbox = SandboxSettings::from_config(config)?;
        let images = ImageSettings::from_config(config)?;
        let shared_workspaces = shared_workspaces(take!(config, "fs.sharedWorkspaces", Texts))?;
        Ok(Self {
            server,
            baseline,
            approvals,
            mcp,
            fetch,
            secret_variables,
            audit,
            sandbox,
            shared_workspaces,
            images,
        })
    }
}

/// Names that calls can give, all mistakes at once: one that no call can name would share nothing.
fn shared_workspaces(names: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let is_name = |name: &str| {
        name.len() <= 64
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let problems: Vec<SettingProblem> = names
        .iter()
        .filter(|name| !is_name(name))
        .map(|name| SettingProblem {
            message: format!("`fs.sharedWorkspaces`: `{name}` is not a workspace's name"),
            hint: "letters, digits, `-` and `_`, 64 at most, a letter or digit first".to_owned(),
        })
        .collect();
    if problems.is_empty() { Ok(names) } else { Err(ConfigError::Settings(problems)) }
}

/// The server section, all of its mistakes at once.
fn server(config: &Config) -> Result<Server, ConfigError> {
    let mut problems = Vec::new();
    let mut wrong = |message: String, hint: &str| {
        problems.push(SettingProblem { message, hint: hint.to_owned() });
    };
    let origins = take!(config, "server.origins", Texts);
    for origin in &origins {
        let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        if !rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['/', '?', '#', '@', '*', ' '])) {
            wrong(
                format!("`server.origins`: `{origin}` is not an origin"),
                "write it as a browser does: \"https://tools.example\", without a path",
            );
        }
    }
    let hosts = take!(config, "server.hosts", Texts);
    for host in hosts.iter().filter(|host| host.is_empty() || host.contains(['/', '*', '@', ' '])) {
        wrong(format!("`server.hosts`: `{host}` is not a name"), "for example \"tools.example\"");
    }
    let tls = match take!(config, "server.tls", Texts).as_slice() {
        [] => None,
        [certificates, key] if certificates.starts_with('/') && key.starts_with('/') => {
            Some(TlsFiles { certificates: certificates.into(), key: key.into() })
        }
        _ => {
            wrong(
                "`server.tls` must name two files by their whole paths".to_owned(),
                "write [\"/etc/bailiwick/cert.pem\", \"/etc/bailiwick/key.pem\"]",
            );
            None
        }
    };
    let mut scopes = Scopes::NONE;
    for word in take!(config, "server.jwt.scopes", Texts) {
        match word.parse() {
            Ok(scope) => scopes = scopes.with(scope),
            Err(error) => wrong(format!("`server.jwt.scopes`: {error}"), "for example [\"call\"]"),
        }
    }
    let (issuer, audience) =
        (take!(config, "server.jwt.issuer", Text), take!(config, "server.jwt.audience", Text));
    let jwks = take!(config, "server.jwt.jwks", Text);
    let jwt = if issuer.is_empty() && audience.is_empty() && jwks.is_empty() {
        None
    } else if issuer.is_empty() || audience.is_empty() || jwks.is_empty() {
        wrong(
            "`server.jwt` needs `issuer`, `audience` and `jwks`, all three".to_owned(),
            "leave all three empty where no tokens count",
        );
        None
    } else if jwks.starts_with('/') {
        Some(Jwt { issuer, audience, jwks: JwksPlace::File(jwks.into()), scopes })
    } else if jwks.starts_with("https://") {
        Some(Jwt { issuer, audience, jwks: JwksPlace::Address(jwks), scopes })
    } else {
        wrong(
            format!("`server.jwt.jwks`: `{jwks}` is neither a file nor an address"),
            "write an absolute path, or an address that begins with https://",
        );
        None
    };
    if !problems.is_empty() {
        return Err(ConfigError::Settings(problems));
    }
    let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Ok(Server {
        listen: take!(config, "server.listen", Listen),
        hosts,
        origins,
        keyless: take!(config, "server.keyless", Switch),
        tls,
        jwt,
        body_bytes: take!(config, "server.body", Size),
        bodies_bytes: take!(config, "server.bodies", SizeOrAuto),
        per_second: count(take!(config, "server.perSecond", Count)),
        at_once: count(take!(config, "server.atOnce", Count)),
        calls: count(take!(config, "server.calls", Count)),
        grace_ms: take!(config, "server.grace", Duration),
        preset: take!(config, "server.preset", Text),
    })
}

fn witnesses(listed: Vec<String>) -> Result<Vec<Witness>, ConfigError> {
    each(listed, |text| {
        if text.starts_with("https://") {
            Ok(Witness::Address(text))
        } else if text.starts_with('/') {
            Ok(Witness::File(PathBuf::from(text)))
        } else {
            Err(SettingProblem {
                message: format!("`audit.witness`: `{text}` is neither a file nor an address"),
                hint: "write an absolute path, or an address that begins with https://".to_owned(),
            })
        }
    })
}

fn notify(listed: Vec<String>) -> Result<Vec<Notify>, ConfigError> {
    each(listed, |text| {
        let is_address = text.strip_prefix("https://").is_some_and(|rest| !rest.is_empty())
            || text.strip_prefix("http://").is_some_and(is_on_this_machine);
        if is_address {
            Ok(Notify::Address(text))
        } else if text.starts_with('/') {
            Ok(Notify::Program(PathBuf::from(text)))
        } else {
            // Not shown: an address may hold a token.
            Err(SettingProblem {
                message: "`approvals.notify` has an entry that is neither a program nor an address".to_owned(),
                hint: "write the absolute path of a program, or an address that begins with https://; http:// is \
                       only for this machine: http://127.0.0.1:9000/"
                    .to_owned(),
            })
        }
    })
}

/// Whether what follows the scheme of an address names the loopback.
fn is_on_this_machine(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    !authority.contains('@')
        && (host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

/// Each of the entries of a list, or all of its mistakes at once.
fn each<T>(
    listed: Vec<String>,
    one: impl FnMut(String) -> Result<T, SettingProblem>,
) -> Result<Vec<T>, ConfigError> {
    let (fine, wrong): (Vec<_>, Vec<_>) = listed.into_iter().map(one).partition(Result::is_ok);
    let wrong: Vec<SettingProblem> = wrong.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() {
        Ok(fine.into_iter().filter_map(Result::ok).collect())
    } else {
        Err(ConfigError::Settings(wrong))
    }
}

impl Fetch {
    fn read(proxy: Vec<String>, roots: Vec<String>, nameservers: &[String]) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let mut wrong = |message: String, hint: &str| {
            problems.push(SettingProblem { message, hint: hint.to_owned() });
        };
        if proxy.len() > 1 {
            wrong(
                "`fetch.proxy` has more than one entry".to_owned(),
                "requests go through one proxy at most",
            );
        }
        for proxy in &proxy {
            if !proxy.starts_with("http://") || proxy.contains('@') {
                // Not shown: it may hold a password.
                wrong(
                    "`fetch.proxy` is not a proxy that can be used".to_owned(),
                    "write it like \"http://proxy.example:3128\", without a user name or password",
                );
            }
        }
        for root in roots.iter().filter(|root| !root.starts_with('/')) {
            wrong(
                format!("`fetch.roots`: `{root}` is not an absolute path"),
                "write the whole path, from `/` on",
            );
        }
        let servers = nameservers.iter().filter_map(|server| {
            let address = server.parse::<SocketAddr>().ok();
            let address = address.or_else(|| server.parse().ok().map(|ip| SocketAddr::new(ip, 53)));
            if address.is_none() {
                wrong(
                    format!("`fetch.nameservers`: `{server}` is not an address"),
                    "for example \"192.0.2.53\"",
                );
            }
            address
        });
        let nameservers = servers.collect();
        if !problems.is_empty() {
            return Err(ConfigError::Settings(problems));
        }
        let roots = roots.into_iter().map(PathBuf::from).collect();
        Ok(Self { proxy: proxy.into_iter().next(), roots, nameservers })
    }
}

/// A statement with the place it was made at, for conflicts to point to.
fn stated<T>(config: &Config, path: &str, value: T) -> Sourced<T> {
    let statement = Sourced::built_in(value, path);
    match config.get(path).map(|setting| &setting.origin) {
        Some(Origin::File { path, place }) => Sourced { place: *place, ..statement }.in_document(path),
        Some(Origin::Variable(name)) => statement.in_document(&format!("${name}").into()),
        Some(Origin::Flag) => statement.in_document(&"--set".into()),
        Some(Origin::BuiltIn) | None => statement,
    }
}

/// What the baseline is called: the file it came from, if one did.
fn document_name(files: &[PathBuf]) -> String {
    match files {
        [] => "built-in".to_owned(),
        [one] => one.display().to_string(),
        [.., last] => format!("{} and others", last.display()),
    }
}

/// The values of a section, which were checked when they were read.
fn limits(config: &Config, section: &str) -> Result<Limits, ConfigError> {
    let mut limits = Limits::shipped_defaults();
    for kind in LimitKind::ALL {
        if let Some(Value::Limit(_, value)) =
            config.get(&format!("{section}.{}", kind.key())).map(|s| &s.value)
        {
            limits.set(*kind, *value).map_err(|error| {
                ConfigError::setting(format!("{section}: {error}"), "choose another value")
            })?;
        }
    }
    Ok(limits)
}

/// The ceilings, after a check that the operator's own limits stay within them.
fn limits_within(config: &Config, limits_in_force: Limits) -> Result<Limits, ConfigError> {
    let ceilings = limits(config, "ceilings")?;
    let mut problems = Vec::new();
    for kind in LimitKind::ALL {
        let (limit, ceiling) = (limits_in_force.get(*kind), ceilings.get(*kind));
        if limit <= ceiling {
            continue;
        }
        let (unit, key) = (kind.unit(), kind.key());
        let origin = |section: &str| {
            config
                .get(&format!("{section}.{key}"))
                .map_or_else(String::new, |setting| setting.origin.to_string())
        };
        problems.push(SettingProblem {
            message: format!(
                "limits.{key} of {} ({}) is above ceilings.{key} of {} ({})",
                unit.format(limit),
                origin("limits"),
                unit.format(ceiling),
                origin("ceilings"),
            ),
            hint: "lower the limit or raise the ceiling".to_owned(),
        });
    }
    if problems.is_empty() { Ok(ceilings) } else { Err(ConfigError::Settings(problems)) }
}
