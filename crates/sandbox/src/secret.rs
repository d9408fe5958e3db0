//! Secrets that commands use and never see, as people type them: `VARIABLE=SECRET@HOST[,HOST…]:HEADER`.
//!
//! A command has a placeholder in its variable; the value is put in on the way out, in that header, to those hosts. What a seal
//! means is for whoever stands behind the way out to say; here it is only carried. A value is never in a spec.

use bailiwick_types::shortened;
use serde_json::{Value, json};

use crate::{Network, SpecError};

/// The most of them.
pub const MOST_SECRETS: usize = 16;

/// A secret that commands use and never see.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SealedSecret {
    /// The variable that holds its placeholder.
    pub variable: String,
    /// The name of the secret.
    pub secret: String,
    /// Where it may be put in: `{"hosts": ["api.example.com"], "in": "header:Authorization"}`.
    pub sealed: Value,
}

impl std::str::FromStr for SealedSecret {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || SpecError::SecretText(shortened(text));
        let (variable, rest) = text.split_once('=').ok_or_else(refused)?;
        let (secret, place) = rest.split_once('@').ok_or_else(refused)?;
        let (hosts, header) = place.rsplit_once(':').ok_or_else(refused)?;
        if [variable, secret, hosts, header].iter().any(|part| part.is_empty()) {
            return Err(refused());
        }
        let hosts: Vec<&str> = hosts.split(',').collect();
        let sealed = json!({"hosts": hosts, "in": format!("header:{header}")});
        Ok(Self { variable: variable.to_owned(), secret: secret.to_owned(), sealed })
    }
}

/// Whether a sandbox with this network can have all of these.
pub(crate) fn check(secrets: &[SealedSecret], network: &Network) -> Result<(), SpecError> {
    if secrets.len() > MOST_SECRETS {
        return Err(SpecError::TooMany { what: "secrets", given: secrets.len(), most: MOST_SECRETS });
    }
    if !secrets.is_empty() && matches!(network, Network::None | Network::Host) {
        return Err(SpecError::SecretsWithoutWayOut(network.mode()));
    }
    for (index, SealedSecret { variable, .. }) in secrets.iter().enumerate() {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(SpecError::VariableName(shortened(variable)));
        }
        if secrets.iter().skip(index + 1).any(|other| other.variable == *variable) {
            return Err(SpecError::SecretTwice(shortened(variable)));
        }
    }
    Ok(())
}
