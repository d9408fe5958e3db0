//! User and password for a registry, from the operator's docker config. Programs that it names (credential helpers) are
//! not run.

use std::collections::HashMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::{ImageError, Reference};

/// User and password as they are sent.
pub(super) struct Credentials {
    /// `Basic …`.
    pub(super) header: Zeroizing<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Docker {
    #[serde(default)]
    auths: HashMap<String, Auth>,
}

#[derive(Deserialize)]
struct Auth {
    #[serde(default)]
    auth: Option<String>,
    #[serde(default, rename = "identitytoken")]
    identity_token: Option<String>,
}

/// What the config has for the registry of an image; none where it has nothing, or there is no config.
pub(super) fn find(config: Option<&Path>, reference: &Reference) -> Result<Option<Credentials>, ImageError> {
    let Some(path) = config else { return Ok(None) };
    let fault = |why: String| ImageError::Source { path: path.display().to_string(), why };
    let text = bailiwick_config::files::read_config(path).map_err(|error| fault(error.to_string()))?;
    let Some(text) = text.map(Zeroizing::new) else { return Ok(None) };
    let docker: Docker = serde_json::from_str(&text)
        // What the parser quotes could be a password.
        .map_err(|error| fault(format!("it is no docker config (line {})", error.line())))?;
    let names = reference.registry_names();
    let Some(auth) = docker.auths.into_iter().find(|(key, _)| names.contains(&host(key).as_str())) else {
        return Ok(None);
    };
    match auth.1 {
        Auth { identity_token: Some(_), .. } => Err(ImageError::Unsupported(format!(
            "{}: identity tokens are not used here; log in with a password or an access token",
            path.display()
        ))),
        Auth { auth: Some(auth), .. } if !auth.is_empty() => {
            let auth = Zeroizing::new(auth);
            // Decoded to see that it is one; what is sent is what was written.
            let decoded = STANDARD.decode(auth.trim()).map(Zeroizing::new);
            match decoded {
                Ok(decoded) if decoded.contains(&b':') => {
                    Ok(Some(Credentials { header: Zeroizing::new(format!("Basic {}", auth.trim())) }))
                }
                _ => Err(fault(format!(
                    "the entry of {} is not base64 of `user:password`",
                    reference.registry()
                ))),
            }
        }
        Auth { .. } => Ok(None),
    }
}

/// The host, and port where there is one, of a key such as `https://index.docker.io/v1/`.
fn host(key: &str) -> String {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_ascii_lowercase()
}
