//! Which folders' files a person has read and meant: by path and hash, so that an edit ends the trust.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::ConfigError;
use crate::files;

/// A file that was trusted with this content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of its content, in hex.
    pub hash: String,
}

/// The record of trusted files, kept beside the operator's own file: a data folder may be anywhere, this may not.
#[derive(Debug, Clone)]
pub struct Trust {
    ledger: PathBuf,
    hashes: BTreeMap<String, String>,
}

impl Trust {
    /// Opens the record of an operator's configuration folder; a missing one is empty.
    pub fn open(config_folder: &Path) -> Result<Self, ConfigError> {
        let ledger = config_folder.join("trusted");
        let text = files::read_config(&ledger)?.unwrap_or_default();
        let mut hashes = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let damaged = || ConfigError::Ledger { path: ledger.clone(), line: index + 1 };
            let (hash, path) = line.split_once("  ").ok_or_else(damaged)?;
            if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(damaged());
            }
            hashes.insert(path.to_owned(), hash.to_owned());
        }
        Ok(Self { ledger, hashes })
    }

    /// Whether a file is trusted with this very content.
    pub fn covers(&self, path: &Path, text: &str) -> bool {
        key(path).is_some_and(|key| self.hashes.get(&key) == Some(&hash(text)))
    }

    /// Records a file with the content it has.
    pub fn record(&mut self, path: &Path, text: &str) -> Result<Trusted, ConfigError> {
        let Some(key) = key(path) else {
            return Err(ConfigError::setting(
                format!("{} has a name that cannot be recorded", path.display()),
                "a path must be UTF-8 and hold no line break",
            ));
        };
        let hash = hash(text);
        self.hashes.insert(key, hash.clone());
        self.write()?;
        Ok(Trusted { path: path.to_owned(), hash })
    }

    /// Forgets a file; says whether it was there.
    pub fn forget(&mut self, path: &Path) -> Result<bool, ConfigError> {
        let was = key(path).is_some_and(|key| self.hashes.remove(&key).is_some());
        if was {
            self.write()?;
        }
        Ok(was)
    }

    /// Every trusted file.
    pub fn list(&self) -> impl Iterator<Item = Trusted> {
        self.hashes.iter().map(|(path, hash)| Trusted { path: PathBuf::from(path), hash: hash.clone() })
    }

    fn write(&self) -> Result<(), ConfigError> {
        let mut text = String::new();
        for (path, hash) in &self.hashes {
            let _ = writeln!(text, "{hash}  {path}");
        }
        Ok(files::replace(&self.ledger, &text, files::Readers::Owner)?)
    }
}

fn key(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    (!text.contains('\n')).then(|| text.to_owned())
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
