//! The operator's own key: made at the first start of a server, in a file that only its owner can read.
//!
//! A file that others could have read or written is refused, never mended: who has read it is not known.

use std::path::PathBuf;

use bailiwick_config::files::{self, FileError, Readers};
use bailiwick_types::{ErrorCode, Scopes};

use super::change::{GivesWay, made, put};
use super::text;
use crate::{Actor, Core, KeyWish, Refusal};

/// The name of the key.
pub(crate) const NAME: &str = "operator";
/// The file in the data folder.
const FILE: &str = "operator.key";

/// Where the operator's key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorKey {
    /// The file.
    pub path: PathBuf,
    /// Whether it was made just now.
    pub is_new: bool,
}

impl Core {
    /// Sees to it that the operator has a key that holds. Where the file is missing, or what is in it opens nothing, the
    /// key of that name is revoked and a new one is written.
    pub async fn operator_key(&self) -> Result<OperatorKey, Refusal> {
        let path = self.inner.world.data().join(FILE);
        let from = path.clone();
        let there = blocking(move || files::read_private(&from)).await?;
        let there = match there {
            Ok(there) => there,
            // Whatever it is, it is no key.
            Err(FileError::NotText { .. } | FileError::TooLarge { .. }) => None,
            Err(error) => return Err(refused(&error)),
        };
        if let Some(text) = there.as_deref().map(str::trim)
            && text::read(text)
                .is_some_and(|(id, hash)| self.inner.keys.opens(id, &hash, NAME, self.now_ms()))
        {
            return Ok(OperatorKey { path, is_new: false });
        }
        let wish = KeyWish {
            name: NAME.to_owned(),
            scopes: Scopes::ALL,
            expires_in_s: None,
            per_second: None,
            at_once: None,
            dialogue: false,
        };
        let (row, text) = made(wish, self.now_ms())?;
        // First the row: a crash in between leaves a key that nobody knows, and the next start revokes it.
        let actor = Actor { key: None, client: "bailiwick".to_owned() };
        put(self, &actor, row, Some(GivesWay(NAME))).await?;
        let to = path.clone();
        let written = blocking(move || files::replace(&to, &format!("{}\n", text.as_str()), Readers::Owner));
        written.await?.map_err(|error| refused(&error))?;
        Ok(OperatorKey { path, is_new: true })
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::internal("the operator's key"))
}

fn refused(error: &FileError) -> Refusal {
    let code = match error {
        FileError::NotPrivate { .. } | FileError::ForeignOwner { .. } | FileError::NotRegular { .. } => {
            ErrorCode::Forbidden
        }
        _ => ErrorCode::Unavailable,
    };
    let refusal = Refusal::new(code, format!("the operator's key is not used: {error}"));
    match error {
        // Others may have read it, so closing the file is not enough.
        FileError::NotPrivate { path, .. } => refusal.with_hint(format!(
            "others may know it: remove {} and start again, which revokes it and writes a new one",
            path.display()
        )),
        _ => error.hint().into_iter().fold(refusal, Refusal::with_hint),
    }
}
