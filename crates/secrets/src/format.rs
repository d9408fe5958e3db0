//! The store as bytes.
//!
//! ```text
//! magic 8 · format 1 · key id 16 · store id 16 · generation 8 · count 4
//! per entry: length of name 1 · name · created 8 · updated 8 · nonce 24 · length 4 · sealed value and its tag
//! nonce 24 · tag 16 over everything before
//! ```
//!
//! Numbers are big-endian. The tag at the end proves names, times, order and number of the entries; the tag of an entry
//! proves its value, and binds it to store, generation, place, name and times. Every write seals everything anew.
//!
//! Reading goes through three types, so that nothing unproven is used: [`Unproven`] can only tell its key, [`Store`] has
//! its list proven, and a value comes out of [`Store::open`] alone. It must never panic on any bytes.

use std::path::Path;

use bailiwick_redact::Secret;
use chacha20poly1305::aead::{AeadInOut, Tag};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use crate::error::SecretsError;
use crate::key::{Key, KeyId, random};
use crate::moment::Moment;
use crate::name::SecretName;
use crate::value::MOST_BYTES;

const MAGIC: &[u8; 8] = b"BWSECRET";
const FORMAT: u8 = 1;
const TAG: usize = 16;
const NONCE: usize = 24;
/// Values are padded to a multiple of this.
const STEP: usize = 128;
/// The most secrets in a store.
pub(crate) const MOST_ENTRIES: usize = 1000;
/// The largest store.
pub(crate) const MOST_STORE_BYTES: u64 = 16 << 20;

/// A secret in clear.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: SecretName,
    pub(crate) created: Moment,
    pub(crate) updated: Moment,
    pub(crate) value: Secret,
}

/// What a store holds, in clear.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) id: [u8; 16],
    pub(crate) generation: u64,
    /// By name, ascending.
    pub(crate) entries: Vec<Entry>,
}

/// A store that was read, but whose list may be anybody's.
#[derive(Debug)]
pub(crate) struct Unproven<'a> {
    bytes: &'a [u8],
    key: KeyId,
    store: Store,
}

/// A store whose list is proven.
#[derive(Debug)]
pub(crate) struct Store {
    id: [u8; 16],
    generation: u64,
    entries: Vec<Sealed>,
    /// Nonce and tag of the list: no two writes have the same.
    seal: [u8; NONCE + TAG],
}

/// An entry whose value is sealed.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) name: SecretName,
    pub(crate) created: Moment,
    pub(crate) updated: Moment,
    nonce: [u8; NONCE],
    /// The value, with its tag behind it.
    value: Vec<u8>,
}

impl Content {
    /// Nothing yet.
    pub(crate) fn empty() -> Result<Self, SecretsError> {
        let mut id = [0; 16];
        random(&mut id)?;
        Ok(Self { id, generation: 0, entries: Vec::new() })
    }

    /// As bytes that only this key opens.
    pub(crate) fn seal(&self, key: &Key) -> Result<Vec<u8>, SecretsError> {
        let cipher = key.cipher();
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.push(FORMAT);
        bytes.extend_from_slice(&key.id().0);
        bytes.extend_from_slice(&self.id);
        bytes.extend_from_slice(&self.generation.to_be_bytes());
        bytes.extend_from_slice(&length(self.entries.len())?);
        for (position, entry) in self.entries.iter().enumerate() {
            let Entry { name, created, updated, value } = entry;
            let (mut nonce, mut sealed) = ([0; NONCE], padded(value)?);
            random(&mut nonce)?;
            let bound = bound_to_entry(&self.id, self.generation, position, (name, *created, *updated));
            let tag = cipher
                .encrypt_inout_detached(&nonce.into(), &bound, sealed.as_mut_slice().into())
                .map_err(|_| SecretsError::Seal)?;
            bytes.push(u8::try_from(name.as_str().len()).map_err(|_| SecretsError::Seal)?);
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(&created.as_unix().to_be_bytes());
            bytes.extend_from_slice(&updated.as_unix().to_be_bytes());
            bytes.extend_from_slice(&nonce);
            bytes.extend_from_slice(&length(sealed.len() + TAG)?);
            bytes.extend_from_slice(&sealed);
            bytes.extend_from_slice(&tag);
        }
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        let tag = cipher
            .encrypt_inout_detached(&nonce.into(), &bound_to_list(&bytes), (&mut [][..]).into())
            .map_err(|_| SecretsError::Seal)?;
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&tag);
        if bytes.len() as u64 > MOST_STORE_BYTES {
            return Err(SecretsError::TooLarge { most: MOST_STORE_BYTES });
        }
        Ok(bytes)
    }
}

impl<'a> Unproven<'a> {
    /// Reads the form of a store.
    pub(crate) fn read(bytes: &'a [u8], path: &Path) -> Result<Self, SecretsError> {
        let mut cursor = Cursor(bytes);
        let damaged = |what| SecretsError::Damaged { path: path.to_owned(), what };
        let short = || damaged("it ends too early");
        if cursor.take::<8>().ok_or_else(short)? != *MAGIC {
            return Err(damaged("it is not a store of secrets"));
        }
        let [format] = cursor.take().ok_or_else(short)?;
        if format != FORMAT {
            return Err(SecretsError::NewerFormat { path: path.to_owned(), version: format });
        }
        let key = KeyId(cursor.take().ok_or_else(short)?);
        let id = cursor.take().ok_or_else(short)?;
        let generation = cursor.number().ok_or_else(short)?;
        let count = cursor.length().ok_or_else(short)?;
        if count > MOST_ENTRIES {
            return Err(damaged("it claims more secrets than fit"));
        }
        let mut entries: Vec<Sealed> = Vec::new();
        for _ in 0..count {
            let entry = cursor.entry().ok_or_else(|| damaged("an entry is not one"))?;
            if entries.last().is_some_and(|last| last.name >= entry.name) {
                return Err(damaged("its entries are not in order"));
            }
            entries.push(entry);
        }
        let seal = cursor.take().ok_or_else(short)?;
        if !cursor.0.is_empty() {
            return Err(damaged("something follows its end"));
        }
        Ok(Self { bytes, key, store: Store { id, generation, entries, seal } })
    }

    /// Which key it says it was written with.
    pub(crate) fn key(&self) -> KeyId {
        self.key
    }

    /// Proves the list.
    pub(crate) fn prove(self, key: &Key, path: &Path) -> Result<Store, SecretsError> {
        let damaged = || SecretsError::Damaged {
            path: path.to_owned(),
            what: "its list of entries is not the one that was written",
        };
        let (body, seal) = self.bytes.split_last_chunk::<{ NONCE + TAG }>().ok_or_else(damaged)?;
        let (nonce, tag) = nonce_and_tag(seal).ok_or_else(damaged)?;
        key.cipher()
            .decrypt_inout_detached(&nonce, &bound_to_list(body), (&mut [][..]).into(), &tag)
            .map_err(|_| damaged())?;
        Ok(self.store)
    }
}

impl Store {
    /// The entries, without their values.
    pub(crate) fn entries(&self) -> &[Sealed] {
        &self.entries
    }

    /// What tells this write from every other.
    pub(crate) const fn seal(&self) -> [u8; NONCE + TAG] {
        self.seal
    }

    /// The value of the entry of this name.
    pub(crate) fn open(
        &self,
        name: &SecretName,
        key: &Key,
        path: &Path,
    ) -> Result<Option<Secret>, SecretsError> {
        let Some((position, entry)) = self.entries.iter().enumerate().find(|(_, entry)| entry.name == *name)
        else {
            return Ok(None);
        };
        self.open_at(position, entry, &key.cipher(), path).map(Some)
    }

    /// Everything in clear, to be changed and sealed again.
    pub(crate) fn content(&self, key: &Key, path: &Path) -> Result<Content, SecretsError> {
        let cipher = key.cipher();
        let mut entries = Vec::with_capacity(self.entries.len());
        for (position, entry) in self.entries.iter().enumerate() {
            let value = self.open_at(position, entry, &cipher, path)?;
            let Sealed { name, created, updated, .. } = entry;
            entries.push(Entry { name: name.clone(), created: *created, updated: *updated, value });
        }
        Ok(Content { id: self.id, generation: self.generation, entries })
    }

    /// Puts the sealed value of another store's entry into one of this.
    #[cfg(test)]
    pub(crate) fn put_entry_of(&mut self, other: &Self, from: usize, to: usize) {
        let Sealed { nonce, value, .. } = &other.entries[from];
        self.entries[to].nonce = *nonce;
        self.entries[to].value.clone_from(value);
    }

    fn open_at(
        &self,
        position: usize,
        entry: &Sealed,
        cipher: &XChaCha20Poly1305,
        path: &Path,
    ) -> Result<Secret, SecretsError> {
        let damaged = || SecretsError::Damaged {
            path: path.to_owned(),
            what: "a value is not the one that was written",
        };
        let (sealed, tag) = entry.value.split_last_chunk::<TAG>().ok_or_else(damaged)?;
        let mut clear = Zeroizing::new(sealed.to_vec());
        let named = (&entry.name, entry.created, entry.updated);
        let bound = bound_to_entry(&self.id, self.generation, position, named);
        cipher
            .decrypt_inout_detached(
                &entry.nonce.into(),
                &bound,
                clear.as_mut_slice().into(),
                &Tag::<XChaCha20Poly1305>::from(*tag),
            )
            .map_err(|_| damaged())?;
        let mut cursor = Cursor(&clear);
        let value = cursor.length().and_then(|length| cursor.slice(length)).ok_or_else(damaged)?;
        let value = std::str::from_utf8(value).map_err(|_| damaged())?;
        Ok(Secret::new(value.to_owned()))
    }
}

/// The value with its length before it and zeros behind it. The room is there from the start, so that no copy stays.
fn padded(value: &Secret) -> Result<Zeroizing<Vec<u8>>, SecretsError> {
    let text = value.expose_secret().as_bytes();
    let room = (text.len() + 4).next_multiple_of(STEP);
    let mut padded = Zeroizing::new(Vec::with_capacity(room));
    padded.extend_from_slice(&length(text.len())?);
    padded.extend_from_slice(text);
    padded.resize(room, 0);
    Ok(padded)
}

/// What an entry's value is tied to.
fn bound_to_entry(
    store: &[u8; 16],
    generation: u64,
    position: usize,
    (name, created, updated): (&SecretName, Moment, Moment),
) -> Vec<u8> {
    let mut bound = b"bailiwick secret entry".to_vec();
    bound.push(FORMAT);
    bound.extend_from_slice(store);
    bound.extend_from_slice(&generation.to_be_bytes());
    bound.extend_from_slice(&(position as u64).to_be_bytes());
    bound.extend_from_slice(&created.as_unix().to_be_bytes());
    bound.extend_from_slice(&updated.as_unix().to_be_bytes());
    // Last, for it is the only part whose length varies.
    bound.extend_from_slice(name.as_str().as_bytes());
    bound
}

/// What the tag at the end is over; never the same as for an entry.
fn bound_to_list(body: &[u8]) -> Vec<u8> {
    [b"bailiwick secret list".as_slice(), body].concat()
}

fn length(length: usize) -> Result<[u8; 4], SecretsError> {
    Ok(u32::try_from(length).map_err(|_| SecretsError::Seal)?.to_be_bytes())
}

fn nonce_and_tag(seal: &[u8; NONCE + TAG]) -> Option<(XNonce, Tag<XChaCha20Poly1305>)> {
    let (nonce, tag) = seal.split_first_chunk::<NONCE>()?;
    let tag: [u8; TAG] = tag.try_into().ok()?;
    Some(((*nonce).into(), tag.into()))
}

/// What is left to read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn length(&mut self) -> Option<usize> {
        self.take().and_then(|bytes| usize::try_from(u32::from_be_bytes(bytes)).ok())
    }

    fn entry(&mut self) -> Option<Sealed> {
        let [name] = self.take()?;
        let name = SecretName::parse(std::str::from_utf8(self.slice(name.into())?).ok()?).ok()?;
        let (created, updated) = (Moment::from_unix(self.number()?), Moment::from_unix(self.number()?));
        let (nonce, length) = (self.take()?, self.length()?);
        if length > (MOST_BYTES + 4).next_multiple_of(STEP) + TAG {
            return None;
        }
        let value = self.slice(length)?.to_vec();
        Some(Sealed { name, created, updated, nonce, value })
    }
}
