//! User and password for a registry, or the token that stands for them, from the operator's docker config: written there, or
//! known to a credential helper that it names.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::keychain::{self, Told, Unhelpful};
use crate::{ImageError, Reference};

/// What opens a registry.
pub(super) enum Credentials {
    /// User and password as they are sent: `Basic …`.
    Password(Zeroizing<String>),
    /// What `docker login` got in exchange for a password; tokens are had for it.
    Identity(Zeroizing<String>),
}

/// Where they are.
#[derive(Debug)]
pub(super) enum Known {
    /// Nowhere.
    Nobody,
    /// In the config.
    Here(Credentials),
    /// A helper is to be asked, once a registry wants to know.
    Helper {
        /// Its name.
        name: String,
        /// What it is asked about.
        server: String,
        /// Whether the config names it for this very registry.
        only_here: bool,
    },
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
    #[serde(default)]
    cred_helpers: HashMap<String, String>,
    #[serde(default)]
    creds_store: Option<String>,
}

#[derive(Deserialize)]
struct Auth {
    #[serde(default)]
    auth: Option<String>,
    #[serde(default, rename = "identitytoken")]
    identity_token: Option<String>,
}

/// What the config has for the registry of an image. A helper for that registry goes before what is written there, and that
/// before the helper for all.
pub(super) fn find(config: Option<&Path>, reference: &Reference) -> Result<Known, ImageError> {
    let Some(path) = config else { return Ok(Known::Nobody) };
    let fault = |why: String| ImageError::Source { path: path.display().to_string(), why };
    let text = bailiwick_config::files::read_config(path).map_err(|error| fault(error.to_string()))?;
    let Some(text) = text.map(Zeroizing::new) else { return Ok(Known::Nobody) };
    let Docker { auths, cred_helpers, creds_store } = serde_json::from_str(&text)
        // What the parser quotes could be a password.
        .map_err(|error| fault(format!("it is no docker config (line {})", error.line())))?;
    let names = reference.registry_names();
    let is_here = |key: &str| names.contains(&host(key).as_str());
    let server = reference.registry_server();
    if let Some((_, name)) = cred_helpers.into_iter().find(|(key, _)| is_here(key)) {
        return Ok(Known::Helper { name, server, only_here: true });
    }
    let written = auths.into_iter().find(|(key, _)| is_here(key));
    let written = written.map(|(_, Auth { auth, identity_token })| {
        let filled = |text: Option<String>| text.map(Zeroizing::new).filter(|text| !text.trim().is_empty());
        (filled(auth), filled(identity_token))
    });
    match (written, creds_store.filter(|name| !name.is_empty())) {
        (Some((_, Some(token))), _) => Ok(Known::Here(Credentials::Identity(token))),
        (Some((Some(auth), None)), _) => {
            // Decoded to see that it is one; what is sent is what was written.
            let decoded = STANDARD.decode(auth.trim()).map(Zeroizing::new);
            match decoded {
                Ok(decoded) if decoded.contains(&b':') => {
                    let header = Zeroizing::new(format!("Basic {}", auth.trim()));
                    Ok(Known::Here(Credentials::Password(header)))
                }
                _ => Err(fault(format!(
                    "the entry of {} is not base64 of `user:password`",
                    reference.registry()
                ))),
            }
        }
        (_, Some(name)) => Ok(Known::Helper { name, server, only_here: false }),
        (_, None) => Ok(Known::Nobody),
    }
}

impl Known {
    /// What opens the registry, if anything does. Asks a helper, which may take a while.
    pub(super) async fn opened(
        self,
        variables: Vec<(String, OsString)>,
    ) -> Result<Option<Credentials>, ImageError> {
        let (name, server, only_here) = match self {
            Self::Nobody => return Ok(None),
            Self::Here(credentials) => return Ok(Some(credentials)),
            Self::Helper { name, server, only_here } => (name, server, only_here),
        };
        let asked = tokio::task::spawn_blocking(move || {
            keychain::ask(&name, &server, &variables, keychain::PATIENCE)
        });
        let step = "ask a credential helper";
        let told =
            asked.await.map_err(|error| ImageError::Io { step, source: std::io::Error::other(error) })?;
        match told {
            Ok(None) => Ok(None),
            // What it gives for a token is so called.
            Ok(Some(Told { user, secret })) if user == "<token>" => Ok(Some(Credentials::Identity(secret))),
            Ok(Some(Told { user, secret })) => {
                let both = Zeroizing::new(format!("{user}:{}", secret.as_str()));
                let header = Zeroizing::new(format!(
                    "Basic {}",
                    Zeroizing::new(STANDARD.encode(both.as_bytes())).as_str()
                ));
                Ok(Some(Credentials::Password(header)))
            }
            // A config that was carried here from another machine must not stand between us and what anybody may have.
            Err(missing @ Unhelpful::Missing(_)) if !only_here => {
                tracing::warn!(%missing, "nobody is asked for a password");
                Ok(None)
            }
            Err(unhelpful) => Err(ImageError::Helper(unhelpful.to_string())),
        }
    }
}

/// The host, and port where there is one, of a key such as `https://index.docker.io/v1/`.
fn host(key: &str) -> String {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_ascii_lowercase()
}
