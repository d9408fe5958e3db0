//! `bailiwick trust`: a person has read a folder's own file and means it.

use std::path::{Path, PathBuf};

use bailiwick_config::files::{self, FileError};
use bailiwick_config::{ConfigError, FOLDER_FILE, Trust as Ledger};
use serde_json::json;

use crate::failure::Failure;
use crate::render::{Screen, faint, good, plain};
use crate::resolved::Session;
use crate::typed::Trust;

/// `bailiwick trust FILE | --list | --forget FILE`
pub(crate) fn trust(screen: &mut Screen, session: &Session, what: &Trust) -> Result<u8, Failure> {
    let folder = session.environment.config_folder().ok_or(ConfigError::NoConfigFolder)?;
    // Such a record is not looked at, so nothing may be promised on it.
    if session.loaded.is_written_by_guests(&folder.join(FOLDER_FILE)) {
        return Err(Failure::NeverConfiguration { path: folder });
    }
    let mut ledger = Ledger::open(&folder)?;
    if what.list {
        list(screen, &ledger);
    } else if let Some(file) = &what.forget {
        // The file itself may be gone by now.
        let path = whole(session, file).unwrap_or_else(|_| session.environment.working_folder.join(file));
        let was = ledger.forget(&path)?;
        let shown = path.display().to_string();
        match (screen.wants_json(), was) {
            (true, _) => screen.json(&json!({"path": shown, "forgotten": was})),
            (false, true) => screen.line(&[plain("no longer trusted: "), plain(&shown)]),
            (false, false) => screen.line(&[plain("was not trusted: "), plain(&shown)]),
        }
    } else if let Some(file) = &what.file {
        let path = whole(session, file)?;
        if path.file_name() != Some(FOLDER_FILE.as_ref()) {
            return Err(Failure::NotAFolderFile { path });
        }
        if session.loaded.is_written_by_guests(&path) {
            return Err(Failure::NeverConfiguration { path });
        }
        let Some(text) = files::read_config(&path)? else {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(FileError::Open { path, source }.into());
        };
        let trusted = ledger.record(&path, &text)?;
        let shown = trusted.path.display().to_string();
        if screen.wants_json() {
            screen.json(&json!({"path": shown, "sha256": trusted.hash}));
        } else {
            screen.line(&[good("trusted "), plain(&shown), faint("  sha256 "), faint(&trusted.hash)]);
            screen.note("it may widen from now on, as it is; any edit ends the trust");
        }
    }
    Ok(0)
}

fn list(screen: &mut Screen, ledger: &Ledger) {
    if screen.wants_json() {
        let all: Vec<_> = ledger
            .list()
            .map(|trusted| json!({"path": trusted.path.display().to_string(), "sha256": trusted.hash}))
            .collect();
        screen.json(&json!({"trusted": all}));
        return;
    }
    if ledger.list().next().is_none() {
        screen.line(&[plain("nothing is trusted")]);
    }
    for trusted in ledger.list() {
        let path = trusted.path.display().to_string();
        screen.line(&[plain(&trusted.hash), plain("  "), plain(&path)]);
    }
}

/// The path by which a folder's file is known: its real folder and its name.
fn whole(session: &Session, file: &Path) -> Result<PathBuf, Failure> {
    let path = session.environment.working_folder.join(file);
    let missing = |source| Failure::Find { path: path.clone(), source };
    let folder = path.parent().unwrap_or(Path::new("/")).canonicalize().map_err(missing)?;
    Ok(path.file_name().map_or(folder.clone(), |name| folder.join(name)))
}
