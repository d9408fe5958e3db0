//! What code meets outside its cell when a command runs it: the network as the operator set it up, the workspaces of
//! the data folder, the secrets, and the person at the terminal.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bailiwick::gateway::net::{Net, UpstreamProxy};
use bailiwick::gateway::person::{Asked, Nobody, Person, Said};
use bailiwick::policy::{Capability, EffectivePolicy, Exposure};
use bailiwick::{Builder, Call, Folders, NamedSecret, WorkspaceName};
use bailiwick_config::files;
use bailiwick_document::{Bounds, Format, parse};
use bailiwick_tool::{SecretStatic, json_of};
use serde_json::Value;

use crate::commands::secret;
use crate::failure::Failure;
use crate::render::{Screen, plain, strong, to_stderr};
use crate::resolved::Session;
use crate::typed::OutsideFlags;

/// A builder with the world that the session offers.
pub(crate) fn offered(session: &Session, flags: &OutsideFlags, builder: Builder) -> Builder {
    let settings = &session.loaded.settings;
    let deadline = Duration::from_millis(settings.approvals.deadline_ms);
    let builder = builder.person(person(flags), deadline);
    match folders(session) {
        Some(folders) => builder.folders(folders),
        None => builder,
    }
}

/// The folders that code's files lie in, if there is a data folder.
pub(crate) fn folders(session: &Session) -> Option<Folders> {
    let data = session.loaded.data_folder.clone()?;
    let config = session.environment.config_folder().unwrap_or_else(|| data.join("config"));
    Some(Folders { data, config })
}

/// The network, as the operator set it up. Made only for code that may reach it: the operator's files are read for it.
pub(crate) fn net(session: &Session, policy: &EffectivePolicy) -> Result<Option<Arc<Net>>, Failure> {
    if !policy.allowed().contains(Capability::NetFetch) {
        return Ok(None);
    }
    any_net(session).map(Some)
}

/// The network, whatever a policy says about it.
pub(crate) fn any_net(session: &Session) -> Result<Arc<Net>, Failure> {
    let fetch = &session.loaded.settings.fetch;
    let mut net = Net::builder().nameservers(fetch.nameservers.clone());
    for path in &fetch.roots {
        net = net.extra_roots(files::read_document(path)?);
    }
    let wrong = |message: String, hint: &str| Failure::Argument { message, hint: hint.to_owned() };
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

/// A list of canned answers from a file, in JSON or YAML.
pub(crate) fn canned(path: &Path) -> Result<Value, Failure> {
    let text = files::read_document(path)?;
    let tree = parse(&crate::documents::name_of(path), &text, Format::Yaml, Bounds::WRITTEN_BY_HAND)?;
    Ok(json_of(&tree.value))
}

/// A call that gets its answers from this list.
pub(crate) fn with_canned(call: Call, http: Value, from: &str) -> Result<Call, Failure> {
    call.canned(http).map_err(|error| Failure::Argument {
        message: format!("{from}: {error}"),
        hint: "an entry is {request: {method: GET, url: \"https://…\"}, response: {status: 200, json: {}}}"
            .to_owned(),
    })
}

/// The workspace of a call: as it was said, else by the name of what is run.
pub(crate) fn workspace(flags: &OutsideFlags, file: Option<&Path>) -> Result<WorkspaceName, Failure> {
    let wrong = |error: bailiwick::WorkspaceNameError| Failure::Argument {
        message: error.to_string(),
        hint: "name it with --workspace".to_owned(),
    };
    if let Some(name) = &flags.workspace {
        return WorkspaceName::parse(name).map_err(wrong);
    }
    let stem = file.and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or("default");
    let stem = stem.split('.').next().unwrap_or_default();
    let tame: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(64).collect();
    let tame = tame.trim_matches('-');
    WorkspaceName::parse(if tame.is_empty() { "default" } else { tame }).map_err(wrong)
}

/// Gives a call the secrets it refers to, and its policy what that exposes.
pub(crate) fn with_secrets(
    session: &Session,
    mut call: Call,
    policy: EffectivePolicy,
    statics: Vec<SecretStatic>,
) -> Result<(Call, EffectivePolicy), Failure> {
    if statics.is_empty() {
        return Ok((call, policy));
    }
    let secrets = secret::open(session)?;
    let snapshot = secrets.snapshot()?;
    let mut missing = Vec::new();
    let mut exposure = Exposure::default();
    for SecretStatic { variable, name, seal } in statics {
        let Some(value) = snapshot.get(&name)? else {
            missing.push(name.as_str().to_owned());
            continue;
        };
        let secret = NamedSecret::new(name.as_str(), value);
        call = if let Some(seal) = seal {
            call.sealed(variable, secret, seal)
        } else {
            exposure.unsealed_secrets.push(name.as_str().to_owned());
            call.secret(variable, secret)
        };
    }
    if !missing.is_empty() {
        return Err(Failure::MissingSecrets { names: missing });
    }
    Ok((call, policy.exposed_to(exposure)))
}

fn person(flags: &OutsideFlags) -> Arc<dyn Person> {
    use std::io::IsTerminal as _;
    if flags.yes {
        return Arc::new(SaidBefore);
    }
    if std::io::stdin().is_terminal() { Arc::new(AtTheTerminal) } else { Arc::new(Nobody) }
}

/// A person who said yes to everything of this run when they typed it.
struct SaidBefore;

impl Person for SaidBefore {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        tell(&asked, "yes (--yes)");
        Box::pin(std::future::ready(Said::Yes))
    }
}

/// The person at the terminal.
struct AtTheTerminal;

impl Person for AtTheTerminal {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        tell(&asked, "");
        Box::pin(async {
            let answer = tokio::task::spawn_blocking(|| {
                let screen = Screen::new(false, false);
                secret::terminal::agrees_now(&screen, "allow it?")
            });
            match answer.await {
                Ok(Ok(true)) => Said::Yes,
                Ok(Ok(false)) => Said::No,
                Ok(Err(_)) | Err(_) => Said::Nobody,
            }
        })
    }
}

fn tell(asked: &Asked, answer: &str) {
    let Asked { capability, effect, when: _, layer } = asked;
    let from = format!("  ({capability}, asked for by {layer}) {answer}");
    to_stderr(&[strong("ask: "), plain(effect), plain(&from)]);
}
