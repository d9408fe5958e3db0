//! What calls meet outside their cells: the network as the operator set it up, workspaces, secrets; and the cells
//! themselves. Each part is made when the first call needs it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bailiwick_config::{Settings, files};
use bailiwick_gateway::net::{Net, UpstreamProxy};
use bailiwick_policy::{Baseline, Capability, EffectivePolicy, Exposure, resolve};
use bailiwick_redact::{Redactor, Secret};
use bailiwick_runtime::{Builder, Call, Folders, NamedSecret, Runtime};
use bailiwick_secrets::{Fallback, Listed, Secrets, Source};
use bailiwick_tool::{SecretStatic, Tool};
use bailiwick_types::ErrorCode;

use crate::sandboxes::MountRoots;
use crate::{Refusal, SecretLine};

/// What calls meet outside.
pub(crate) struct World {
    pub(crate) settings: Settings,
    /// The directories of `fs.mounts`, held since the settings were read.
    pub(crate) mount_roots: MountRoots,
    pub(crate) folders: Folders,
    fallback: Arc<Fallback>,
    cells: Builder,
    runtime: tokio::sync::OnceCell<Runtime>,
    net: OnceLock<Arc<Net>>,
}

impl World {
    pub(crate) fn new(settings: Settings, folders: Folders, fallback: Fallback, cells: Builder) -> Self {
        let cells = cells.baseline(Arc::clone(&settings.baseline)).folders(folders.clone());
        Self {
            mount_roots: MountRoots::open(&settings.sandbox.mounts),
            settings,
            folders,
            fallback: Arc::new(fallback),
            cells,
            runtime: tokio::sync::OnceCell::new(),
            net: OnceLock::new(),
        }
    }

    /// The operator's side of policy.
    pub(crate) const fn baseline(&self) -> &Arc<Baseline> {
        &self.settings.baseline
    }

    /// The data folder.
    pub(crate) const fn data(&self) -> &PathBuf {
        &self.folders.data
    }

    /// Cells, started when the first call needs one.
    pub(crate) async fn runtime(&self) -> Result<&Runtime, Refusal> {
        let made = self.runtime.get_or_try_init(|| async { self.cells.clone().build().await }).await;
        made.map_err(|error| Refusal::new(error.code(), error.to_string()).with_hint(error.hint()))
    }

    /// Cells whose requests go out, for a policy that lets some.
    pub(crate) async fn runtime_for(&self, policy: &EffectivePolicy) -> Result<Runtime, Refusal> {
        let runtime = self.runtime().await?;
        if policy.allowed().contains(Capability::NetFetch) {
            Ok(runtime.with_net(self.net()?))
        } else {
            Ok(runtime.clone())
        }
    }

    /// The network, as the operator set it up: his files are read for it.
    pub(crate) fn net(&self) -> Result<Arc<Net>, Refusal> {
        if let Some(net) = self.net.get() {
            return Ok(Arc::clone(net));
        }
        let net = net_of(&self.settings)?;
        Ok(Arc::clone(self.net.get_or_init(|| net)))
    }

    /// What a tool may do today.
    pub(crate) fn policy_of(&self, tool: &Tool) -> Result<EffectivePolicy, Refusal> {
        let said = tool.policy();
        let profile = said.profile.as_ref().map(|name| &name.value);
        let layer = Arc::new(said.layer.clone());
        let policy = resolve(self.baseline(), profile, Some(&layer)).map_err(|conflicts| {
            Refusal::new(ErrorCode::Conflict, conflicts.to_string())
                .with_hint("bailiwick policy show tells what each layer says")
        })?;
        let mut exposure = Exposure::default();
        for secret in tool.secret_statics().iter().filter(|secret| secret.seal.is_none()) {
            exposure.unsealed_secrets.push(secret.name.as_str().to_owned());
        }
        Ok(policy.exposed_to(exposure))
    }

    /// The secrets that a tool refers to and that are not set.
    pub(crate) fn missing_secrets(&self, tool: &Tool) -> Result<Vec<String>, Refusal> {
        let wanted = tool.secret_statics();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let secrets = self.secrets()?;
        let snapshot = secrets.snapshot().map_err(secrets_refusal)?;
        let mut missing = Vec::new();
        for secret in wanted {
            if snapshot.get(&secret.name).map_err(secrets_refusal)?.is_none() {
                missing.push(secret.name.as_str().to_owned());
            }
        }
        Ok(missing)
    }

    /// A call with the statics of its tool, the secrets among them.
    pub(crate) fn with_statics(&self, call: Call, tool: &Tool) -> Result<Call, Refusal> {
        let mut call = call.statics(tool.plain_statics());
        for (SecretStatic { variable, name, seal }, value) in self.secrets_of(tool)? {
            let secret = NamedSecret::new(name.as_str(), value);
            call = match seal {
                Some(seal) => call.sealed(variable, secret, seal),
                None => call.secret(variable, secret),
            };
        }
        Ok(call)
    }

    /// The secrets that a tool refers to, each with its value.
    pub(crate) fn secrets_of(&self, tool: &Tool) -> Result<Vec<(SecretStatic, Secret)>, Refusal> {
        let wanted = tool.secret_statics();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let secrets = self.secrets()?;
        let snapshot = secrets.snapshot().map_err(secrets_refusal)?;
        let (mut found, mut missing) = (Vec::with_capacity(wanted.len()), Vec::new());
        for secret in wanted {
            match snapshot.get(&secret.name).map_err(secrets_refusal)? {
                Some(value) => found.push((secret, value)),
                None => missing.push(secret.name.as_str().to_owned()),
            }
        }
        match missing.first() {
            None => Ok(found),
            Some(first) => Err(Refusal::new(
                ErrorCode::MissingSecret,
                format!("the tool refers to secrets that are not set: {}", missing.join(", ")),
            )
            .with_hint(format!("set it: bailiwick secret set {first}"))),
        }
    }

    /// The names of the secrets that are set.
    pub(crate) fn secret_names(&self) -> Result<Vec<SecretLine>, Refusal> {
        let listed = self.secrets()?.list().map_err(secrets_refusal)?;
        let line = |Listed { name, source }| {
            let (from, set_at) = match source {
                Source::Store { created: _, updated } => ("store", Some(updated.to_string())),
                Source::Environment => ("environment", None),
            };
            SecretLine { name: name.as_str().to_owned(), from: from.to_owned(), set_at }
        };
        Ok(listed.into_iter().map(line).collect())
    }

    /// The values of all secrets that are set, to be masked in what goes on the record.
    pub(crate) fn secret_values(&self) -> Result<Redactor, Refusal> {
        let secrets = self.secrets()?;
        let snapshot = secrets.snapshot().map_err(secrets_refusal)?;
        let mut values = Vec::new();
        for Listed { name, source: _ } in snapshot.list() {
            values.extend(snapshot.get(&name).map_err(secrets_refusal)?);
        }
        Redactor::new(values.iter())
            .map_err(|error| Refusal::new(ErrorCode::Internal, format!("masking secrets: {error}")))
    }

    fn secrets(&self) -> Result<Secrets, Refusal> {
        Secrets::open(&self.folders.data, Arc::clone(&self.fallback)).map_err(secrets_refusal)
    }
}

/// The network that an operator's settings describe.
pub fn net_of(settings: &Settings) -> Result<Arc<Net>, Refusal> {
    let fetch = &settings.fetch;
    let wrong = |message: String, hint: &str| Refusal::new(ErrorCode::InvalidInput, message).with_hint(hint);
    let mut net = Net::builder().nameservers(fetch.nameservers.clone());
    for path in &fetch.roots {
        let text = files::read_document(path).map_err(|error| {
            let hint = error.hint();
            let refusal = Refusal::new(ErrorCode::InvalidInput, format!("fetch.roots: {error}"));
            hint.into_iter().fold(refusal, Refusal::with_hint)
        })?;
        net = net.extra_roots(text);
    }
    if let Some(proxy) = &fetch.proxy {
        let proxy = UpstreamProxy::parse(proxy).map_err(|error| {
            wrong(format!("fetch.proxy: {error}"), "write it like http://proxy.example:3128")
        })?;
        net = net.proxy(proxy);
    }
    let net = net
        .build()
        .map_err(|error| wrong(format!("fetch.roots: {error}"), "name files of certificates in PEM"))?;
    Ok(Arc::new(net))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn secrets_refusal(error: bailiwick_secrets::SecretsError) -> Refusal {
    let refusal = Refusal::new(error.code(), error.to_string());
    error.hint().into_iter().fold(refusal, Refusal::with_hint)
}
