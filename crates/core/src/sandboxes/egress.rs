//! The way out of sandboxes, as the operator set it up: made when the first sandbox needs one, since files are read for it.
//!
//! It must never put a value into a spec: secrets are looked up by name for the one sandbox that may use them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_config::Settings;
use bailiwick_gateway::egress::{EgressBounds, EgressBuilder, Inspection, SandboxEgress};
use bailiwick_gateway::net::{Seal, Sealed, SealedSet};
use bailiwick_policy::HostRule;
use bailiwick_sandbox::{Egress, Outlet, SandboxError, SandboxSpec, SealedSecret};
use bailiwick_secrets::{Fallback, SecretName, Secrets};
use bailiwick_sys::capacity;

use crate::world::net_of;

/// The way out of sandboxes under an operator's settings.
pub struct OperatorsEgress {
    settings: Settings,
    data: PathBuf,
    fallback: Arc<Fallback>,
    made: Mutex<Option<Arc<SandboxEgress>>>,
}

impl OperatorsEgress {
    /// Under these settings, with the secrets of this data folder.
    pub fn new(settings: Settings, data: PathBuf, fallback: Arc<Fallback>) -> Self {
        Self { settings, data, fallback, made: Mutex::new(None) }
    }

    fn made(&self) -> Result<Arc<SandboxEgress>, SandboxError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.as_ref() {
            return Ok(made.clone());
        }
        let fresh = Arc::new(self.build()?);
        *made = Some(fresh.clone());
        Ok(fresh)
    }

    fn build(&self) -> Result<SandboxEgress, SandboxError> {
        let Settings { baseline, sandbox, .. } = &self.settings;
        let net = net_of(&self.settings).map_err(|refusal| failed("set up the network", &refusal.message))?;
        let never = baseline.never.iter().map(|rule| HostRule::clone(&rule.value));
        let inspection = if sandbox.authority { Inspection::Authority } else { Inspection::ServerName };
        let (data, fallback) = (self.data.clone(), self.fallback.clone());
        Ok(EgressBuilder::new(net)
            .never(never)
            .own_listeners(baseline.own_listeners.iter().copied())
            .private(sandbox.private.iter().cloned())
            .narrow(sandbox.requests.iter().cloned())
            .inspection(inspection)
            .bounds(EgressBounds::SHIPPED.within(capacity::descriptors(), capacity::memory()))
            .sealed_by(move |spec| sealed(spec, &data, &fallback))
            .build())
    }
}

impl Egress for OperatorsEgress {
    fn outlet(&self, spec: &SandboxSpec) -> Result<Arc<dyn Outlet>, SandboxError> {
        self.made()?.outlet(spec)
    }
}

impl std::fmt::Debug for OperatorsEgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperatorsEgress").finish_non_exhaustive()
    }
}

fn failed(step: &str, reason: &dyn std::fmt::Display) -> SandboxError {
    SandboxError::Failed { step: step.to_owned(), reason: reason.to_string() }
}

/// The secrets that a sandbox uses, each with a placeholder of its own.
fn sealed(
    spec: &SandboxSpec,
    data: &std::path::Path,
    fallback: &Arc<Fallback>,
) -> Result<SealedSet, SandboxError> {
    if spec.secrets.is_empty() {
        return Ok(SealedSet::default());
    }
    let secrets =
        Secrets::open(data, fallback.clone()).map_err(|error| failed("open the secrets", &error))?;
    let mut all = Vec::new();
    for SealedSecret { variable, secret, sealed } in &spec.secrets {
        let step = format!("lend the secret `{}`", bailiwick_types::shortened(secret));
        let name = SecretName::parse(secret).map_err(|error| failed(&step, &error))?;
        let value = secrets.get(&name).map_err(|error| failed(&step, &error))?;
        let value =
            value.ok_or_else(|| failed(&step, &"it is not set; bailiwick secret set NAME sets one"))?;
        let seal = Seal::parse(sealed).map_err(|error| failed(&step, &error))?;
        all.push(Sealed::new(variable.clone(), seal, value).map_err(|error| failed(&step, &error))?);
    }
    SealedSet::new(all).map_err(|error| failed("learn the secrets", &error))
}
