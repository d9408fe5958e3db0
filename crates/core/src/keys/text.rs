//! A key as a text: `bwk_<id as 32 hex digits>_<43 characters of base64url>`.
//!
//! The last part is 256 random bits, which nobody can guess however fast a hash is; so its SHA-256 is kept, and no slow
//! hash is needed. What opens is in memory only while it is made or looked at, and is never shown by `Debug`.

use bailiwick_audit::{Digest, hash_of};
use bailiwick_types::{ErrorCode, KeyId};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use crate::Refusal;

/// What every key begins with.
pub(crate) const PREFIX: &str = "bwk_";
/// The hexadecimal digits of an id.
const ID: usize = 32;
/// The characters of what opens.
const SECRET: usize = 43;

/// A key that was just made.
pub(crate) struct Fresh {
    pub(crate) id: KeyId,
    pub(crate) hash: Digest,
    pub(crate) text: Zeroizing<String>,
}

impl Fresh {
    /// Makes one.
    pub(crate) fn new(now_ms: u64) -> Result<Self, Refusal> {
        let (mut of_id, mut secret) = ([0; 10], Zeroizing::new([0; 32]));
        let filled = bailiwick_sys::clock::random(&mut of_id)
            .and_then(|()| bailiwick_sys::clock::random(secret.as_mut_slice()));
        filled.map_err(|_| Refusal::new(ErrorCode::Unavailable, "the system gives no randomness"))?;
        let id = KeyId::from_parts(now_ms, &of_id);
        let secret = Zeroizing::new(URL_SAFE_NO_PAD.encode(secret.as_slice()));
        let digits: String = id.to_string().chars().filter(|c| *c != '-').collect();
        let text = Zeroizing::new(format!("{PREFIX}{digits}_{}", secret.as_str()));
        Ok(Self { id, hash: hash_of(secret.as_bytes()), text })
    }
}

/// A text that has the shape of a key: which one it says it is, and a hash of what it opens with.
pub(crate) fn read(text: &str) -> Option<(KeyId, Digest)> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let is_id = id.len() == ID && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_secret = secret.len() == SECRET
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if !is_id || !is_secret {
        return None;
    }
    Some((KeyId::parse(id).ok()?, hash_of(secret.as_bytes())))
}
