//! Where the server of a data folder listens, as it says there itself: for other commands of the same folder, whose tools
//! must not reach it either, and who hand the operator's key to nobody else.
//!
//! What a server leaves behind that was killed only refuses addresses; a key is sent on the word of a living one only.

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bailiwick_config::files::{self, FileError, Readers};
use serde_json::{Value, json};

/// The file in the data folder.
const FILE: &str = "listeners.json";

/// What a server said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listeners {
    pid: u32,
    pub(crate) addresses: Vec<SocketAddr>,
}

/// A file that goes when the server does.
#[derive(Debug)]
pub(crate) struct Announced(PathBuf);

impl Drop for Announced {
    fn drop(&mut self) {
        // Whoever finds it later finds an address that nobody may reach, and no living server.
        let _gone = std::fs::remove_file(&self.0);
    }
}

/// Says where this process listens.
pub(crate) fn announce(data: &Path, addresses: &[SocketAddr]) -> Result<Announced, FileError> {
    let path = data.join(FILE);
    let text = json!({"pid": std::process::id(), "listens": addresses}).to_string();
    files::replace(&path, &text, Readers::Owner)?;
    Ok(Announced(path))
}

impl Listeners {
    /// What the server of a data folder said. A file that is not ours, or none, says nothing.
    pub(crate) fn of(data: &Path) -> Self {
        let Ok(Some(text)) = files::read_private(&data.join(FILE)) else { return Self::default() };
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let pid = said.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
        let listed = said.get("listens").and_then(Value::as_array).into_iter().flatten();
        let addresses = listed.filter_map(|one| one.as_str()?.parse().ok()).collect();
        Self { pid: pid.unwrap_or_default(), addresses }
    }

    /// Whether a living process of this user listens on this port of this machine.
    pub(crate) fn has(&self, port: u16) -> bool {
        self.living().iter().any(|address| address.port() == port)
    }

    /// Where a living process of this user listens.
    pub(crate) fn living(&self) -> &[SocketAddr] {
        let user = rustix::process::geteuid().as_raw();
        let lives = std::fs::metadata(format!("/proc/{}", self.pid)).is_ok_and(|found| found.uid() == user);
        if lives { &self.addresses } else { &[] }
    }
}
