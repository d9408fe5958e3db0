//! The store as its users and its attackers meet it.

mod attacks;
mod key_changes;
mod leaks;
mod others;
mod properties;
mod round_trips;
mod writers;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bailiwick_redact::Secret;

use crate::{Fallback, SecretName, Secrets, SecretsError};

/// A data folder of its own.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With `A`, `B` and `C` in the store.
    fn with_three() -> Self {
        let machine = Self::new();
        let secrets = machine.open().unwrap();
        for (second, (name, value)) in THREE.iter().enumerate() {
            secrets.set(&named(name), &secret(value), at(second as u64)).unwrap();
        }
        machine
    }

    fn open(&self) -> Result<Secrets, SecretsError> {
        Secrets::open(self.folder.path(), Fallback::none())
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("secrets/store")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("secrets.key")
    }

    /// All values, by way of a fresh handle.
    fn values(&self) -> Result<Vec<(String, String)>, SecretsError> {
        let secrets = self.open()?;
        let mut values = Vec::new();
        for listed in secrets.list()? {
            let value = secrets.get(&listed.name)?.unwrap();
            values.push((listed.name.to_string(), value.expose_secret().to_owned()));
        }
        Ok(values)
    }

    #[track_caller]
    fn check_three(&self) {
        let expected: Vec<_> = THREE.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        assert_eq!(self.values().unwrap(), expected);
    }
}

/// No value is a part of another, or of a name or message.
const THREE: &[(&str, &str)] =
    &[("A_TOKEN", "ghp_16C7e42F292c6912E7"), ("B_KEY", "line one: qT5\nline two: zW9\n"), ("C", "pässwörd☂")];

fn named(name: &str) -> SecretName {
    SecretName::parse(name).unwrap()
}

fn secret(value: &str) -> Secret {
    Secret::new(value.to_owned())
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
}

#[expect(clippy::disallowed_methods, reason = "files of a test's own machine")]
fn bytes_of(path: impl AsRef<std::path::Path>) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Writes into a file that is there, so that its permissions stay.
#[expect(clippy::disallowed_methods, reason = "files of a test's own machine")]
fn overwrite(path: impl AsRef<std::path::Path>, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}
