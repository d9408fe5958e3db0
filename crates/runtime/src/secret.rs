//! Secrets as a call is given them: by name, some to read and some sealed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_gateway::net::{Seal, SealError, Sealed, SealedSet};
use bailiwick_redact::{Redactor, RedactorError, Secret};
use bailiwick_types::{ErrorCode, Failure};
use sha2::{Digest, Sha256};

/// A secret and its name.
#[derive(Debug, Clone)]
pub struct NamedSecret {
    pub(crate) name: String,
    pub(crate) value: Arc<Secret>,
}

impl NamedSecret {
    /// A secret under this name.
    pub fn new(name: impl Into<String>, value: Secret) -> Self {
        Self { name: name.into(), value: Arc::new(value) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A static that is a secret.
#[derive(Debug, Clone)]
pub(crate) struct SecretStatic {
    pub(crate) variable: String,
    pub(crate) secret: NamedSecret,
    /// With a seal the code gets a placeholder only.
    pub(crate) seal: Option<Seal>,
}

/// What code has in the place of sealed secrets: the static's name and its placeholder.
pub(crate) type Placeholders = Vec<(String, String)>;

/// Seals what is to be sealed in a call: the statics with their placeholders beside them.
pub(crate) fn sealed(statics: &[SecretStatic]) -> Result<(SealedSet, Placeholders), Box<Failure>> {
    let (mut items, mut placeholders) = (Vec::new(), Vec::new());
    for SecretStatic { variable, secret, seal } in statics {
        let Some(seal) = seal else { continue };
        let copy = Secret::new(secret.value.expose_secret().to_owned());
        let sealed = Sealed::new(secret.name.as_str(), seal.clone(), copy)
            .map_err(|error| failure(&secret.name, &error))?;
        placeholders.push((variable.clone(), sealed.placeholder().to_owned()));
        items.push(sealed);
    }
    let set = SealedSet::new(items).map_err(|error| unredactable(&error))?;
    Ok((set, placeholders))
}

fn failure(name: &str, error: &SealError) -> Box<Failure> {
    Box::new(Failure {
        code: ErrorCode::InvalidInput,
        message: format!("the secret {name} cannot be sealed: {error}"),
        hint: Some("set a longer value, or leave out `sealed`".to_owned()),
        location: None,
        stack: None,
        denied: None,
    })
}

/// Secrets that cannot be redacted are not given to any code.
pub(crate) fn unredactable(error: &RedactorError) -> Box<Failure> {
    Box::new(Failure {
        code: ErrorCode::InvalidInput,
        message: format!("the secrets of this call cannot be kept out of its result: {error}"),
        hint: Some("give the call fewer or shorter secrets".to_owned()),
        location: None,
        stack: None,
        denied: None,
    })
}

/// Redactors by the set of secrets they know: building one takes milliseconds, and most calls of a tool have the same.
#[derive(Debug, Default)]
pub(crate) struct Redactors(Mutex<VecDeque<([u8; 32], Redactor)>>);

impl Redactors {
    /// The sets that are kept ready.
    const KEPT: usize = 32;

    /// The redactor of these secrets.
    pub(crate) fn of(&self, statics: &[SecretStatic]) -> Result<Redactor, RedactorError> {
        if statics.is_empty() {
            return Ok(Redactor::default());
        }
        let mut hash = Sha256::new();
        for SecretStatic { secret, .. } in statics {
            let value = secret.value.expose_secret().as_bytes();
            hash.update(value.len().to_le_bytes());
            hash.update(value);
        }
        let key: [u8; 32] = hash.finalize().into();
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = {
            let mut kept = kept();
            let place = kept.iter().position(|(known, _)| *known == key);
            place.and_then(|place| kept.remove(place))
        };
        // Built without holding up the calls that have theirs.
        let redactor = match known {
            Some((_, redactor)) => redactor,
            None => Redactor::new(statics.iter().map(|one| &*one.secret.value))?,
        };
        let mut kept = kept();
        kept.retain(|(known, _)| *known != key);
        kept.push_front((key, redactor.clone()));
        kept.truncate(Self::KEPT);
        Ok(redactor)
    }
}
