//! The key in the Secret Service of the person's session, over D-Bus. Not the kernel's keyring, which a reboot empties.

use keyring::{Entry, Error};
use zeroize::Zeroizing;

use crate::error::SecretsError;

const SERVICE: &str = "bailiwick";

/// Whether a Secret Service answers.
pub(crate) fn answers() -> bool {
    Entry::store_status().is_ok()
}

/// What is kept under a name.
pub(crate) fn load(account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
    if !answers() {
        return Ok(None);
    }
    match Entry::new(SERVICE, account).and_then(|entry| entry.get_secret()) {
        Ok(bytes) => Ok(Some(Zeroizing::new(bytes))),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

/// Keeps bytes under a name.
pub(crate) fn keep(account: &str, bytes: &[u8]) -> Result<(), SecretsError> {
    Entry::new(SERVICE, account).and_then(|entry| entry.set_secret(bytes)).map_err(|error| failed(&error))
}

/// The kind of failure only: some of them carry the bytes that could not be decoded.
fn failed(error: &Error) -> SecretsError {
    let what = match error {
        Error::NoStorageAccess(_) => "it is locked, or its dialogue was dismissed",
        Error::PlatformFailure(_) => "the Secret Service failed",
        Error::Ambiguous(_) => "it holds several entries of this name",
        _ => "it refused",
    };
    SecretsError::Keyring { what: what.to_owned() }
}
