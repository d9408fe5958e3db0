//! The store as its users see it: get, set, remove, list.
//!
//! Every operation reads key and store afresh under the folder's lock; nothing in clear outlives it but what it returns.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bailiwick_redact::Secret;

use crate::error::SecretsError;
use crate::fallback::Fallback;
use crate::format::{Content, Entry, MOST_ENTRIES, MOST_STORE_BYTES, Store, Unproven};
use crate::hidden::hide_this_process;
use crate::key::{Key, KeyId, Keys};
use crate::moment::Moment;
use crate::name::SecretName;
use crate::place::{self, KeyPlace};
use crate::private::{Folder, Lock, Others};
use crate::value::check_value;

/// The folder of the store in the data folder.
const FOLDER: &str = "secrets";
/// The store in its folder.
pub(crate) const FILE: &str = "store";

/// The secrets of a data folder.
#[derive(Debug)]
pub struct Secrets {
    data: PathBuf,
    fallback: Arc<Fallback>,
}

/// A secret in a list: never its value, nor its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: SecretName,
    /// Where its value comes from.
    pub source: Source,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The store.
    Store {
        /// When it was first set.
        created: Moment,
        /// When it got its present value.
        updated: Moment,
    },
    /// A variable of the environment that the operator listed.
    Environment,
}

/// What setting a secret did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There was none of this name.
    Added,
    /// It had another value before, or the same.
    Replaced,
}

/// Tells one state of all secrets from every other: what was made from the values holds as long as this is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    store: Option<[u8; 40]>,
    fallback: [u8; 16],
}

/// All secrets at one instant. It holds the key, so it should not be kept.
#[derive(Debug)]
pub struct Snapshot<'a> {
    store: Option<(Store, Key)>,
    path: PathBuf,
    fallback: &'a Fallback,
}

impl Secrets {
    /// Opens the secrets of a data folder, and makes this process not dumpable first. A store that is there is checked;
    /// none is made before the first value is set.
    pub fn open(data_folder: &Path, fallback: impl Into<Arc<Fallback>>) -> Result<Self, SecretsError> {
        hide_this_process()?;
        let secrets = Self { data: data_folder.to_owned(), fallback: fallback.into() };
        secrets.snapshot()?;
        Ok(secrets)
    }

    /// The value of a secret: from the store, else from the environment where the operator listed the name.
    pub fn get(&self, name: &SecretName) -> Result<Option<Secret>, SecretsError> {
        self.snapshot()?.get(name)
    }

    /// Every secret by name, without its value.
    pub fn list(&self) -> Result<Vec<Listed>, SecretsError> {
        Ok(self.snapshot()?.list())
    }

    /// Which state the secrets are in.
    pub fn version(&self) -> Result<Version, SecretsError> {
        Ok(self.snapshot()?.version())
    }

    /// All secrets as they are now: what is read from it belongs together.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, SecretsError> {
        let mut snapshot =
            Snapshot { store: None, path: self.data.join(FOLDER).join(FILE), fallback: &self.fallback };
        let Some(data) = Folder::open(&self.data, Others::Look)? else { return Ok(snapshot) };
        let Some(folder) = Folder::open(&self.data.join(FOLDER), Others::Nothing)? else {
            return Ok(snapshot);
        };
        folder.lock(Lock::Reading)?;
        if let Some(Found { keys, store: Some((store, id)), .. }) = find(&data, &folder)? {
            snapshot.store = keys.take(id).map(|key| (store, key));
        }
        Ok(snapshot)
    }

    /// Where the key is, if there is one.
    pub fn key_place(&self) -> Result<Option<KeyPlace>, SecretsError> {
        let Some(data) = Folder::open(&self.data, Others::Look)? else { return Ok(None) };
        Ok(place::find(&data)?.map(|(_, place)| place))
    }

    /// Sets a secret, whether or not it has a value.
    pub fn set(&self, name: &SecretName, value: &Secret, now: SystemTime) -> Result<Change, SecretsError> {
        check_value(value)?;
        self.change(|entries| match entries.binary_search_by(|entry| entry.name.cmp(name)) {
            Ok(position) => {
                update(entries, position, value, now.into());
                Ok(Change::Replaced)
            }
            Err(_) if entries.len() >= MOST_ENTRIES => Err(SecretsError::TooMany { most: MOST_ENTRIES }),
            Err(position) => {
                let (name, now) = (name.clone(), now.into());
                entries.insert(position, Entry { name, created: now, updated: now, value: copy(value) });
                Ok(Change::Added)
            }
        })
    }

    /// Gives a secret that is in the store another value.
    pub fn rotate(&self, name: &SecretName, value: &Secret, now: SystemTime) -> Result<(), SecretsError> {
        check_value(value)?;
        self.only_where_kept(name)?;
        self.change(|entries| {
            let position = entries
                .binary_search_by(|entry| entry.name.cmp(name))
                .map_err(|_| SecretsError::NotThere { name: name.clone() })?;
            let same = entries
                .get(position)
                .is_some_and(|entry| entry.value.expose_secret() == value.expose_secret());
            if same {
                return Err(SecretsError::Unchanged { name: name.clone() });
            }
            update(entries, position, value, now.into());
            Ok(())
        })
    }

    /// Removes a secret from the store.
    pub fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        self.only_where_kept(name)?;
        self.change(|entries| {
            let position = entries
                .binary_search_by(|entry| entry.name.cmp(name))
                .map_err(|_| SecretsError::NotThere { name: name.clone() })?;
            entries.remove(position);
            Ok(())
        })
    }

    /// Fails for a name that is not in the store, before anything is made on the disk.
    pub fn only_where_kept(&self, name: &SecretName) -> Result<(), SecretsError> {
        let kept = self
            .snapshot()?
            .store
            .is_some_and(|(store, _)| store.entries().iter().any(|entry| entry.name == *name));
        if kept { Ok(()) } else { Err(SecretsError::NotThere { name: name.clone() }) }
    }

    /// Reads everything, changes it, and puts it in the place of what was there.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<Entry>) -> Result<T, SecretsError>,
    ) -> Result<T, SecretsError> {
        let (data, folder) = self.lock_to_write()?;
        let path = folder.path_of(FILE);
        let (key, mut content) = match find(&data, &folder)? {
            Some(Found { keys, place, store: Some((store, id)) }) => {
                let (key, content) = open_all(keys, id, &store, &place, &data, &path)?;
                (key, content)
            }
            // A key without a store: the making of the first store was stopped, or the store was taken away.
            Some(Found { keys, .. }) => (keys.take_newest(), Content::empty()?),
            None => {
                let keys = Keys::one(Key::fresh()?);
                place::begin(&data, &keys)?;
                (keys.take_newest(), Content::empty()?)
            }
        };
        let Some(key) = key else { return Err(SecretsError::Seal) };
        let done = change(&mut content.entries)?;
        content.generation = content.generation.saturating_add(1);
        folder.replace(FILE, &content.seal(&key)?)?;
        Ok(done)
    }

    /// Both folders, made where they are not there; everybody else waits.
    pub(crate) fn lock_to_write(&self) -> Result<(Folder, Folder), SecretsError> {
        let data = Folder::make(&self.data, Others::Look)?;
        let folder = Folder::make(&self.data.join(FOLDER), Others::Nothing)?;
        folder.lock(Lock::Writing)?;
        Ok((data, folder))
    }
}

impl Snapshot<'_> {
    /// The value of a secret.
    pub fn get(&self, name: &SecretName) -> Result<Option<Secret>, SecretsError> {
        if let Some((store, key)) = &self.store
            && let Some(value) = store.open(name, key, &self.path)?
        {
            return Ok(Some(value));
        }
        Ok(self.fallback.get(name))
    }

    /// Every secret by name, without its value.
    pub fn list(&self) -> Vec<Listed> {
        let kept = self.store.iter().flat_map(|(store, _)| store.entries());
        let mut all: Vec<Listed> = kept
            .map(|entry| Listed {
                name: entry.name.clone(),
                source: Source::Store { created: entry.created, updated: entry.updated },
            })
            .collect();
        for name in self.fallback.names() {
            if let Err(position) = all.binary_search_by(|listed| listed.name.cmp(name)) {
                all.insert(position, Listed { name: name.clone(), source: Source::Environment });
            }
        }
        all
    }

    /// Which state this is.
    pub fn version(&self) -> Version {
        Version { store: self.store.as_ref().map(|(store, _)| store.seal()), fallback: self.fallback.mark() }
    }
}

/// Key and store, as they were found together.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) keys: Keys,
    pub(crate) place: KeyPlace,
    /// The store and which of the keys proved it.
    pub(crate) store: Option<(Store, KeyId)>,
}

/// Reads key and store. None where there is neither; a store whose key is not there is an error.
pub(crate) fn find(data: &Folder, folder: &Folder) -> Result<Option<Found>, SecretsError> {
    let path = folder.path_of(FILE);
    let bytes = folder.read(FILE, MOST_STORE_BYTES)?;
    let found = place::find(data)?;
    let Some(bytes) = bytes else {
        return Ok(found.map(|(keys, place)| Found { keys, place, store: None }));
    };
    let unproven = Unproven::read(&bytes, &path)?;
    let Some((keys, place)) = found else {
        return Err(SecretsError::MissingKey { store: path, places: place::looked_at(data) });
    };
    let id = unproven.key();
    let Some(key) = keys.by_id(id) else {
        return Err(SecretsError::WrongKey { store: path, place: place.to_string() });
    };
    let store = unproven.prove(key, &path)?;
    Ok(Some(Found { keys, place, store: Some((store, id)) }))
}

/// Opens every value. A key that a stopped change of key left over is forgotten on the way.
fn open_all(
    keys: Keys,
    id: KeyId,
    store: &Store,
    place: &KeyPlace,
    data: &Folder,
    path: &Path,
) -> Result<(Option<Key>, Content), SecretsError> {
    let left_over = keys.count() > 1;
    let keys = keys.only(id);
    let Some(key) = keys.by_id(id) else { return Err(SecretsError::Seal) };
    let content = store.content(key, path)?;
    if left_over {
        place::keep(data, place, &keys)?;
    }
    Ok((keys.take(id), content))
}

fn update(entries: &mut [Entry], position: usize, value: &Secret, now: Moment) {
    if let Some(entry) = entries.get_mut(position) {
        entry.value = copy(value);
        entry.updated = now;
    }
}

fn copy(value: &Secret) -> Secret {
    Secret::new(value.expose_secret().to_owned())
}
