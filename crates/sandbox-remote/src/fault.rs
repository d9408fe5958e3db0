//! What a server refuses, as the error of a backend.

use bailiwick_core::Refusal;
use bailiwick_sandbox::SandboxError;
use bailiwick_types::ErrorCode;

use crate::ID;
use crate::door::Door;

/// The error that a refusal is here. Whose word it is, it says.
pub(crate) fn fault(door: &Door, refusal: &Refusal) -> SandboxError {
    let Refusal { code, message, hint, faults: _ } = refusal;
    let (message, hint) = (door.told(message), hint.as_deref().map(|hint| door.told(hint)));
    match code {
        // Whose key does not hold is us, and not whoever asked us.
        ErrorCode::Unauthorized => SandboxError::Unavailable {
            backend: ID.to_owned(),
            reason: format!("{} does not take the key: {message}", door.address()),
            fix: Some(
                "make a key there with `bailiwick key create NAME --scope author`, and keep it here as the secret that \
                 sandbox.remote.key names"
                    .to_owned(),
            ),
        },
        ErrorCode::Unavailable => {
            SandboxError::Unavailable { backend: ID.to_owned(), reason: message, fix: hint }
        }
        ErrorCode::RateLimited | ErrorCode::Busy => {
            SandboxError::Busy(format!("{}: {message}", door.address()))
        }
        code => SandboxError::Elsewhere { by: door.address(), code: *code, message, fix: hint },
    }
}

/// The error of an answer that is another than was asked for.
pub(crate) fn strange(door: &Door, what: &str) -> SandboxError {
    SandboxError::Unavailable {
        backend: ID.to_owned(),
        reason: format!("what {} answers is not understood: {what}", door.address()),
        fix: Some("check that the address is that of a Bailiwick server of this version".to_owned()),
    }
}
