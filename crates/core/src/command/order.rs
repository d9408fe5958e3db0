//! One call of a command tool, put together: words, input, variables, and the sandbox that they go into.

use bailiwick_gateway::net::Sealed;
use bailiwick_redact::{Redactor, Secret};
use bailiwick_sandbox::{Command, SandboxError, SealedSecret};
use bailiwick_tool::{CommandBlock, Filled, Runs, SecretStatic, Tool, Unfit, canonical};
use bailiwick_types::{CorrelationId, ErrorCode};
use serde_json::{Map, Value};

use super::python;
use super::reach::wish_of;
use crate::sandboxes::{Resolved, Rules, resolve_tool};
use crate::{Core, Fault, Refusal};

/// A command that is ready to be run.
pub(crate) struct Order {
    pub(super) block: CommandBlock,
    pub(super) command: Command,
    /// What it uses and never sees: put in on the way out, and by nobody before.
    sealed: Vec<SealedSecret>,
    /// Masks every secret that the command gets to see or uses.
    pub(crate) redactor: Redactor,
}

impl Order {
    /// A command with arguments that were checked against the parameters.
    pub(crate) fn of(
        core: &Core,
        tool: &Tool,
        block: &CommandBlock,
        arguments: &Map<String, Value>,
    ) -> Result<Self, Refusal> {
        let secrets = core.inner.world.secrets_of(tool)?;
        let redactor = Redactor::new(secrets.iter().map(|(_, value)| value)).map_err(|error| {
            Refusal::new(ErrorCode::InvalidInput, error.to_string())
                .with_hint("give the secret another value")
        })?;
        let secrets = unsealed(secrets)?;
        let sealed = tool.sealed_statics();
        let filled = block.fill(tool.params(), arguments).map_err(|unfit| unfitting(tool, unfit))?;
        let Filled { argv, stdin, env } = filled;
        let plain = tool.plain_statics();
        let mut command = match block.runs() {
            Runs::Argv(_) => {
                let mut command = Command::new(argv).map_err(wrong)?;
                command.env = plain.iter().map(|(name, value)| (name.clone(), text_of(value))).collect();
                let secrets = secrets
                    .iter()
                    .map(|(secret, value)| (secret.variable.clone(), value.expose_secret().to_owned()));
                command.env.extend(secrets);
                command.with_input(stdin.unwrap_or_default().into()).map_err(wrong)?
            }
            Runs::Python(script) => {
                let mut variables = plain;
                for (secret, value) in &secrets {
                    variables.insert(secret.variable.clone(), value.expose_secret().into());
                }
                for param in tool.params() {
                    let given = arguments.get(&param.name).cloned().unwrap_or(Value::Null);
                    variables.insert(param.name.clone(), given);
                }
                let sealed: Vec<&str> = sealed.iter().map(|one| one.variable.as_str()).collect();
                python::command(script, &variables, &sealed, &stdin.unwrap_or_default()).map_err(wrong)?
            }
        };
        command.env.extend(env);
        command.check()?;
        Ok(Self { block: block.clone(), command, sealed, redactor })
    }

    /// The sandbox that it goes into. Who calls does not matter: what is mounted is the author's wish, not the caller's
    /// word, so it is held to the operator's list.
    pub(crate) fn resolved(&self, core: &Core, correlation: &CorrelationId) -> Result<Resolved, Refusal> {
        let world = &core.inner.world;
        let settings = &world.settings.sandbox;
        let mut own = settings.own.clone();
        own.extend([world.folders.data.clone(), world.folders.config.clone()]);
        let rules = Rules { settings, own, roots: world.mount_roots.clone() };
        resolve_tool(&wish_of(&self.block, self.sealed.clone()), &rules, correlation)
    }
}

/// The secrets that a command gets to see. Those that are sealed are left behind here, once it is sure that they can be.
fn unsealed(secrets: Vec<(SecretStatic, Secret)>) -> Result<Vec<(SecretStatic, Secret)>, Refusal> {
    let (sealed, seen): (Vec<_>, Vec<_>) = secrets.into_iter().partition(|(secret, _)| secret.seal.is_some());
    for (SecretStatic { name, .. }, value) in &sealed {
        Sealed::check(value).map_err(|error| {
            let message = format!("the secret {name} cannot be sealed: {error}");
            Refusal::new(ErrorCode::InvalidInput, message)
                .with_hint("set a longer value, or leave out `sealed`")
        })?;
    }
    Ok(seen)
}

fn wrong(error: bailiwick_sandbox::CommandError) -> Refusal {
    Refusal::from(SandboxError::from(error)).with_hint("give shorter arguments, or put long ones on `stdin`")
}

fn unfitting(tool: &Tool, unfit: Unfit) -> Refusal {
    let Unfit { param, message, hint } = unfit;
    let fault = Fault {
        document: tool.name().as_str().to_owned(),
        path: param,
        line: 0,
        column: 0,
        message: message.clone(),
        hint: Some(hint.clone()),
    };
    Refusal::new(ErrorCode::InvalidInput, format!("the arguments do not fit: {message}"))
        .with_faults(vec![fault])
        .with_hint(hint)
}

/// A static as a variable of the environment.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| canonical(value), str::to_owned)
}
