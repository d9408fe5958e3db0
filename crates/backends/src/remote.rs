//! The server that the backend `remote` asks, as the operator's settings and secrets say. Neither is looked at before it is needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_config::{RemoteSettings, Settings, files};
use bailiwick_core::Refusal;
use bailiwick_core::sandboxes::lenient;
use bailiwick_redact::Secret;
use bailiwick_sandbox::Backend;
use bailiwick_sandbox_remote::{Door, Options, RemoteBackend};
use bailiwick_secrets::{Fallback, SecretName, Secrets};
use bailiwick_types::ErrorCode;

/// For how long a connection is tried again: as long as a server takes to start anew.
const PATIENCE: Duration = Duration::from_secs(3);

/// The backend.
pub(super) fn of(all: &Settings, data: PathBuf, fallback: Arc<Fallback>) -> Arc<dyn Backend> {
    let settings = &all.sandbox;
    let rules = [
        (all.baseline.never.is_empty(), "policy.hosts.never"),
        (settings.requests.is_empty(), "sandbox.requests"),
    ];
    let rules_here = rules.into_iter().filter(|(is_empty, _)| !is_empty).map(|(_, name)| name).collect();
    let remote = settings.remote.clone();
    let backend = remote.backend.clone();
    let finds = Options::new(move || found(&remote, &data, &fallback));
    Arc::new(RemoteBackend::new(Options { backend, accept: lenient(settings), rules_here, ..finds }))
}

fn found(settings: &RemoteSettings, data: &Path, fallback: &Arc<Fallback>) -> Result<Door, Refusal> {
    let RemoteSettings { url, key, ca, backend: _ } = settings;
    let url = url.as_deref().ok_or_else(|| {
        Refusal::new(ErrorCode::Unavailable, "no server is named that it could ask")
            .with_hint("name it: sandbox.remote.url = \"https://sandboxes.example\"")
    })?;
    let key = match key.as_deref() {
        Some(name) => Some((secret(name, data, fallback)?, name)),
        None => None,
    };
    let roots = ca.as_deref().map(files::read_document).transpose().map_err(|error| {
        Refusal::new(ErrorCode::Unavailable, format!("sandbox.remote.ca: {error}"))
            .with_hint("name a file of certificates in PEM")
    })?;
    let key = key.as_ref().map(|(secret, name)| (secret, format!("the secret {name}")));
    Door::new(url, key, roots, PATIENCE)
}

/// The key of the server. It is nowhere but in the secrets.
fn secret(name: &str, data: &Path, fallback: &Arc<Fallback>) -> Result<Secret, Refusal> {
    let no = |why: String| {
        Refusal::new(ErrorCode::Unavailable, format!("the key of the server (sandbox.remote.key): {why}"))
            .with_hint(
                "make one there with `bailiwick key create NAME --scope author`, and keep it here: bailiwick secret set NAME",
            )
    };
    let named = SecretName::parse(name).map_err(|error| no(error.to_string()))?;
    let secrets = Secrets::open(data, fallback.clone()).map_err(|error| no(error.to_string()))?;
    let secret = secrets.get(&named).map_err(|error| no(error.to_string()))?;
    secret.ok_or_else(|| no(format!("the secret `{named}` is not set")))
}
