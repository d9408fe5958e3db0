//! Where the key is kept: a file beside the store's folder, or with the feature `keyring` the Secret Service.

use std::fmt;
use std::path::PathBuf;

use crate::error::SecretsError;
use crate::key::{self, Keys, NotKeys};
use crate::private::Folder;

/// The name of the key file in the data folder.
const FILE: &str = "secrets.key";

/// Where a key is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In this file, which only its owner can read.
    File(PathBuf),
    /// In the keyring of the person's session, under this name.
    Keyring(String),
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Keyring(account) => write!(f, "the keyring (service `bailiwick`, user `{account}`)"),
        }
    }
}

/// Where a key of this data folder is looked for, in words.
pub(crate) fn looked_at(data: &Folder) -> String {
    let file = data.path_of(FILE);
    #[cfg(feature = "keyring")]
    if !crate::keyring::answers() {
        return format!("{}, and the keyring does not answer", file.display());
    }
    let keyring = if cfg!(feature = "keyring") { " and the keyring" } else { "" };
    format!("{}{keyring}", file.display())
}

/// The keys that there are, and where.
pub(crate) fn find(data: &Folder) -> Result<Option<(Keys, KeyPlace)>, SecretsError> {
    let path = data.path_of(FILE);
    if let Some(bytes) = data.read(FILE, key::MOST_BYTES)? {
        let place = KeyPlace::File(path);
        return Ok(Some((read(&bytes, &place)?, place)));
    }
    #[cfg(feature = "keyring")]
    {
        let account = data.path().display().to_string();
        if let Some(bytes) = crate::keyring::load(&account)? {
            let place = KeyPlace::Keyring(account);
            return Ok(Some((read(&bytes, &place)?, place)));
        }
    }
    Ok(None)
}

fn read(bytes: &[u8], place: &KeyPlace) -> Result<Keys, SecretsError> {
    Keys::from_bytes(bytes).map_err(|why| match (why, place) {
        (NotKeys::Newer(version), KeyPlace::File(path)) => {
            SecretsError::NewerFormat { path: path.clone(), version }
        }
        _ => SecretsError::DamagedKey { place: place.to_string() },
    })
}

/// Keeps the first key of a data folder: in the keyring where one answers, else in the file.
pub(crate) fn begin(data: &Folder, keys: &Keys) -> Result<KeyPlace, SecretsError> {
    #[cfg(feature = "keyring")]
    {
        let account = data.path().display().to_string();
        if crate::keyring::answers() {
            let place = KeyPlace::Keyring(account);
            keep(data, &place, keys)?;
            return Ok(place);
        }
    }
    let place = KeyPlace::File(data.path_of(FILE));
    keep(data, &place, keys)?;
    Ok(place)
}

/// Keeps keys where they are kept.
pub(crate) fn keep(data: &Folder, place: &KeyPlace, keys: &Keys) -> Result<(), SecretsError> {
    match place {
        KeyPlace::File(_) => data.replace(FILE, &keys.to_bytes()),
        #[cfg(feature = "keyring")]
        KeyPlace::Keyring(account) => crate::keyring::keep(account, &keys.to_bytes()),
        #[cfg(not(feature = "keyring"))]
        KeyPlace::Keyring(_) => Err(SecretsError::Keyring { what: "this build has no keyring".to_owned() }),
    }
}
