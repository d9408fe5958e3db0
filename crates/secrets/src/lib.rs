//! Secret values at rest: one encrypted file, the key that opens it, and the names the environment may stand in for.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use bailiwick_redact::Secret;
//! use bailiwick_secrets::{Fallback, SecretName, Secrets};
//!
//! let data = tempfile::tempdir()?;
//! let secrets = Secrets::open(data.path(), Fallback::none())?;
//! let name = SecretName::parse("GITHUB_TOKEN")?;
//! secrets.set(&name, &Secret::new("ghp_16C7e42F292c6912E7".to_owned()), SystemTime::UNIX_EPOCH)?;
//! let value = secrets.get(&name)?.ok_or("it was just set")?;
//! assert_eq!(value.expose_secret(), "ghp_16C7e42F292c6912E7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What lies where
//!
//! - `DATA/secrets/store`: every entry sealed on its own (XChaCha20-Poly1305, random nonce), bound to its store,
//!   generation, place and name; a tag over the whole list, so that nothing is swapped, left out or brought in from
//!   another file. Names and times are in clear, so that a backup can be told apart; they are shown only after the
//!   tag was checked. Values are padded, so that the file does not tell their length.
//! - `DATA/secrets.key`: the key, outside the folder so that a copy of the folder alone opens nothing. With the cargo
//!   feature `keyring`, a new key goes to the Secret Service instead where one answers.
//!
//! Both are refused when another user could read or write them. Every operation reads the files afresh, so that a
//! server sees what the command line changed; writers lock each other out.
//!
//! # What this crate does not do
//!
//! Keep values from root or from a program that runs as the same user: both can read the key. Notice that the whole
//! store was put back to an older state under the same key: there is nothing outside it that would know.
//!
//! # What this crate must never do
//!
//! Hand out a value as anything but a [`Secret`](bailiwick_redact::Secret); show a value or its length through an error,
//! a `Debug` output or a list; write over a store that it could not open.
//!
//! Start reading at [`Secrets`], then `format` (the file) and `rotate` (the steps of a change of key).

mod error;
mod fallback;
mod format;
mod hidden;
mod key;
#[cfg(feature = "keyring")]
mod keyring;
mod moment;
mod name;
mod place;
mod private;
mod rotate;
mod secrets;
mod value;

pub use error::SecretsError;
pub use fallback::Fallback;
pub use hidden::hide_this_process;
pub use moment::Moment;
pub use name::{NameError, SecretName};
pub use place::KeyPlace;
pub use secrets::{Change, Listed, Secrets, Snapshot, Source, Version};
pub use value::{MOST_BYTES, Strength, ValueError, check_value};

#[cfg(test)]
mod tests;
