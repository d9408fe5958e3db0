//! What was typed, as an entry that a client can be given: everything in it is absolute and holds wherever the client
//! was started, and nothing in it is a secret.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use bailiwick_client::Server;

use super::clients::KeyBy;
use crate::failure::Failure;
use crate::resolved::Session;
use crate::typed::Global;
use crate::typed::mcp::{Client, McpEntry};

/// The variable that our own commands take a key from, too.
const KEY_VARIABLE: &str = "BAILIWICK_KEY";
/// Where we answer to MCP.
const ENDPOINT: &str = "/mcp";
/// The longest name that a client is given.
const MOST_NAME: usize = 64;

/// How the client reaches us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// It starts this program.
    Stdio { command: String, args: Vec<String> },
    /// It asks a server, with the key of this variable.
    Http { url: String, key: Option<String> },
}

/// An entry, and where it belongs.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) client: Client,
    pub(super) name: String,
    pub(super) way: Way,
    /// The file, whole.
    pub(super) file: PathBuf,
    /// The folder that it is for, where it is for one.
    pub(super) project: bool,
}

impl Wanted {
    /// From what was typed.
    pub(super) fn resolve(session: &Session, global: &Global, typed: &McpEntry) -> Result<Self, Failure> {
        if let Some(path) = &global.key_file {
            return Err(refused(
                format!(
                    "the key in {} would stand in a client's file for every program to read",
                    path.display()
                ),
                "leave out --key-file; --key-env has the client find a key by itself",
            ));
        }
        let name = named(&typed.name)?;
        let way = match &typed.http {
            None => stdio(session, global)?,
            Some(address) => http(session, typed, address.as_deref())?,
        };
        let here = &session.environment.working_folder;
        let file = match &typed.file {
            Some(file) => here.join(file),
            None if typed.project => here.join(typed.client.projects_file().ok_or_else(|| {
                refused(format!("{} has no file for one folder", typed.client.title()), "leave out --project")
            })?),
            None => typed.client.users_file(&session.environment)?,
        };
        Ok(Self { client: typed.client, name, way, file, project: typed.project })
    }

    /// What VS Code calls the key that it asks for.
    pub(super) fn input_id(&self) -> String {
        format!("{}-key", self.name)
    }
}

fn refused(message: String, hint: &str) -> Failure {
    Failure::Argument { message, hint: hint.to_owned() }
}

/// A name that every client takes, and that means nothing in JSON, TOML or a shell.
fn named(name: &str) -> Result<String, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MOST_NAME || name.starts_with('-') || !name.chars().all(is_plain) {
        return Err(refused(
            format!("`{}` is not a name that every client takes", name.escape_debug()),
            "up to 64 of a-z, A-Z, 0-9, `-` and `_`, not beginning with `-`",
        ));
    }
    Ok(name.to_owned())
}

/// This program, with what it must be told since a client does not hand on its environment.
fn stdio(session: &Session, global: &Global) -> Result<Way, Failure> {
    let program = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .map_err(|source| Failure::Find { path: PathBuf::from("/proc/self/exe"), source })?;
    let mut args = vec!["mcp".to_owned()];
    let environment = &session.environment;
    let data = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
    let usual = environment.home.as_ref().map(|home| home.join(".local/share/bailiwick"));
    if usual.as_deref() != Some(data) {
        args.extend(["--data".to_owned(), literal(data)?]);
    }
    if let Some(config) = global.config.as_ref().or(environment.config.as_ref()) {
        args.extend(["--config".to_owned(), literal(&environment.working_folder.join(config))?]);
    }
    for set in &global.set {
        args.extend(["--set".to_owned(), literal(Path::new(set))?]);
    }
    Ok(Way::Stdio { command: literal(&program)?, args })
}

/// A text that each client takes as it is: they would put something else in the place of `${…}`.
fn literal(path: &Path) -> Result<String, Failure> {
    match path.to_str() {
        Some(text) if !text.contains("${") && !text.chars().any(char::is_control) => Ok(text.to_owned()),
        _ => Err(refused(
            format!("{} cannot stand in a client's file as it is", path.display()),
            "use a path of plain text without `${`",
        )),
    }
}

fn http(session: &Session, typed: &McpEntry, address: Option<&str>) -> Result<Way, Failure> {
    let Some(key_by) = typed.client.key_by() else {
        return Err(refused(
            format!("the file of {} takes programs only, no addresses", typed.client.title()),
            "leave out --http: `bailiwick mcp` asks the running server of its data folder by itself",
        ));
    };
    let server = Server::parse(&address.map_or_else(|| own_address(session), str::to_owned))?;
    let shown = server.shown();
    let has_path = shown.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    let url = if has_path { shown } else { format!("{shown}{ENDPOINT}") };
    // Elsewhere nobody is let in without one.
    let wants_key =
        typed.key_env.is_some() || !server.is_on_this_machine() || !session.loaded.settings.server.keyless;
    if wants_key && !server.is_on_this_machine() && url.starts_with("http://") {
        return Err(refused(
            format!("{url} would have the client send a key in the clear"),
            "use https://, or a tunnel to a port of this machine",
        ));
    }
    // A host's name may hold that; in a path it is encoded.
    if url.contains("${") {
        return Err(refused(format!("{url} is not an address as it is"), "write it without `${`"));
    }
    // What was typed is not shown: it may be the key itself.
    let variable = typed.key_env.clone().flatten();
    if key_by == KeyBy::Input && variable.is_some() {
        return Err(refused(
            "VS Code puts no variable into a header, and --key-env names one".to_owned(),
            "leave out the name: VS Code asks for the key, once, and keeps it encrypted",
        ));
    }
    let variable = variable.unwrap_or_else(|| KEY_VARIABLE.to_owned());
    if !is_variable(&variable) {
        return Err(refused(
            "what --key-env names is not the name of a variable".to_owned(),
            "A-Z, a-z, 0-9 and `_`, not beginning with a digit; the key itself never stands in a client's file",
        ));
    }
    Ok(Way::Http { url, key: wants_key.then_some(variable) })
}

/// A name of a variable. A key of ours is none, although it may look like one.
fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MOST_NAME
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.starts_with("bwk_")
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Where the server of the data folder listens, or would.
fn own_address(session: &Session) -> String {
    let server = &session.loaded.settings.server;
    let living = session.listens();
    let nearest = living
        .iter()
        .find(|address| address.ip() == IpAddr::V4(Ipv4Addr::LOCALHOST))
        .or_else(|| living.iter().find(|address| address.ip().is_loopback()))
        .or(living.first())
        .copied()
        .unwrap_or(server.listen);
    let ip = match nearest.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let scheme = if server.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(ip, nearest.port()))
}
