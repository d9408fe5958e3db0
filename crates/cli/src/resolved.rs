//! The second stage: settings read, ready to run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_client::{Credential, Server};
use bailiwick_config::{Environment, FolderFile, Loaded, Request, files, load};

use crate::failure::Failure;
use crate::listeners::Listeners;
use crate::render::Screen;
use crate::typed::place::{Place, place};
use crate::typed::{self, Command};

/// What every command runs in.
pub(crate) struct Session {
    /// The surroundings.
    pub(crate) environment: Environment,
    /// The settings.
    pub(crate) loaded: Loaded,
    /// Tell more.
    pub(crate) verbose: bool,
    /// The address of a server, as it was typed or set, and which of the two.
    server: Option<(String, &'static str)>,
    key_file: Option<PathBuf>,
    /// Where the server of the data folder listens.
    listeners: Listeners,
}

/// The operator's own key, in the data folder.
pub(crate) const OPERATOR_KEY_FILE: &str = "operator.key";

/// What names a server.
const FLAG: &str = "--server";
const VARIABLE: &str = "BAILIWICK_SERVER";

impl Session {
    /// Reads the settings.
    pub(crate) fn open(global: &typed::Global, command: &Command) -> Result<Self, Failure> {
        let environment = Environment::of_this_process().map_err(Failure::WorkingFolder)?;
        let request = Request {
            config: global.config.clone(),
            data: global.data.clone(),
            set: global.set.clone(),
            // The file to be trusted must not stand in the way of trusting it.
            folder_file: if matches!(command, Command::Trust(_)) {
                FolderFile::Skip
            } else {
                FolderFile::Read
            },
        };
        let mut loaded = load(&environment, &request)?;
        let listeners = loaded.data_folder.as_deref().map(Listeners::of).unwrap_or_default();
        if !listeners.addresses.is_empty() {
            // What runs in this process must not reach the server either.
            let mut baseline = (*loaded.settings.baseline).clone();
            baseline.own_listeners.extend(listeners.addresses.iter().copied());
            loaded.settings.baseline = Arc::new(baseline);
        }
        let from_variable = environment.variables.get(VARIABLE).filter(|address| !address.is_empty());
        let server = match (&global.server, from_variable) {
            (Some(typed), _) => Some((typed.clone(), FLAG)),
            (None, Some(set)) => Some((set.clone(), VARIABLE)),
            (None, None) => None,
        };
        let (verbose, key_file) = (global.verbose, global.key_file.clone());
        Ok(Self { environment, loaded, verbose, server, key_file, listeners })
    }

    /// Tells what a person should know about the settings.
    pub(crate) fn notes(&self, screen: &mut Screen) {
        for note in &self.loaded.notes {
            screen.note(note);
        }
    }

    /// The server that is asked in place of a data folder, with the key for it.
    pub(crate) fn server(&self) -> Result<Option<Server>, Failure> {
        let Some((address, _)) = &self.server else { return Ok(None) };
        let mut server = Server::parse(address)?;
        if let Some(path) = self.environment.variables.get("BAILIWICK_SERVER_CA") {
            server = server.with_roots(files::read_document(path.as_ref())?);
        }
        Ok(Some(match self.key(&server)? {
            Some(key) => server.with_key(key)?,
            None => server,
        }))
    }

    /// Refuses what cannot be asked of a server, where one was named.
    pub(crate) fn here_only(&self, what: &str, hint: &str) -> Result<(), Failure> {
        match &self.server {
            None => Ok(()),
            Some((address, by)) => Err(Failure::Argument {
                message: format!("{what}, and {by} names the server {address}"),
                hint: hint.to_owned(),
            }),
        }
    }

    /// Where the living server of the data folder listens.
    pub(crate) fn listens(&self) -> &[std::net::SocketAddr] {
        self.listeners.living()
    }

    /// Whether a server was named.
    pub(crate) fn asks_a_server(&self) -> bool {
        self.server.is_some()
    }

    /// The key: from the flag's file, from the variables, or the operator's own where the server is that of the data
    /// folder. Another process on this machine may be anybody's.
    fn key(&self, server: &Server) -> Result<Option<Credential>, Failure> {
        if let Some(path) = &self.key_file {
            return Ok(Some(key_in(path, "--key-file")?));
        }
        if let Some(key) = Environment::variable("BAILIWICK_KEY").filter(|key| !key.is_empty()) {
            return Ok(Some(Credential::new(&key.to_string_lossy(), "$BAILIWICK_KEY")?));
        }
        if let Some(path) =
            self.environment.variables.get("BAILIWICK_KEY_FILE").filter(|path| !path.is_empty())
        {
            return Ok(Some(key_in(Path::new(path), "$BAILIWICK_KEY_FILE")?));
        }
        let operators = self.loaded.data_folder.as_ref().map(|data| data.join(OPERATOR_KEY_FILE));
        let is_ours = server.is_on_this_machine() && self.listeners.has(server.port());
        match operators.filter(|path| is_ours && path.exists()) {
            Some(path) => Ok(Some(key_in(&path, "the data folder")?)),
            None => Ok(None),
        }
    }
}

/// Says plainly that a command works on this machine, where a server was named beside it: refused if it was typed, since
/// whoever typed it wants another machine; noted if it is only in the environment, which other commands are for.
pub(crate) fn here(screen: &mut Screen, global: &typed::Global, command: &Command) -> Result<(), Failure> {
    let (place, name) = place(command);
    match (place, &global.server) {
        (Place::Server | Place::HereOrNot, _) | (Place::HereOfCourse, None) => Ok(()),
        (Place::Here | Place::HereOfCourse, Some(address)) => Err(Failure::Argument {
            message: format!("`{name}` works on this machine only, and {FLAG} names the server {address}"),
            hint: "leave out the server, or run it on the server's machine".to_owned(),
        }),
        (Place::Here, None) => {
            let set = Environment::variable(VARIABLE).filter(|address| !address.is_empty());
            if let Some(address) = set.filter(|_| !screen.wants_json()) {
                let address = address.to_string_lossy();
                screen.note(&format!(
                    "`{name}` works on this machine only: {VARIABLE} ({address}) is not asked"
                ));
            }
            Ok(())
        }
    }
}

fn key_in(path: &Path, by: &str) -> Result<Credential, Failure> {
    let text = files::read_document(path)?;
    Ok(Credential::new(&text, format!("{} ({by})", path.display()))?)
}
