//! The second stage: settings read, ready to run.

use bailiwick_config::{Environment, FolderFile, Loaded, Request, load};

use crate::failure::Failure;
use crate::render::Screen;
use crate::typed::{self, Command};

/// What every command runs in.
pub(crate) struct Session {
    /// The surroundings.
    pub(crate) environment: Environment,
    /// The settings.
    pub(crate) loaded: Loaded,
    /// Tell more.
    pub(crate) verbose: bool,
}

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
        let loaded = load(&environment, &request)?;
        Ok(Self { environment, loaded, verbose: global.verbose })
    }

    /// Tells what a person should know about the settings.
    pub(crate) fn notes(&self, screen: &mut Screen) {
        for note in &self.loaded.notes {
            screen.note(note);
        }
    }
}
