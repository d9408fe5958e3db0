//! What an agent asks for, done.

use std::sync::Arc;

use bailiwick_sandbox::{Sandbox, SandboxSpec};
use bailiwick_types::{CorrelationId, ErrorCode, Risk, Tier};
use serde_json::{Value, json};

use super::judge::judge;
use super::offer::wish;
use super::python;
use super::shown::{Shown, text_or_hash};
use super::{AgentDoes, AgentTool, AgentWish, Session};
use crate::core::OpenCall;
use crate::sandboxes::actions::{On, exec_fresh, exec_on, exposed, removed, wish_told};
use crate::sandboxes::attend::Keep;
use crate::sandboxes::background;
use crate::sandboxes::files::{FileWish, files_on};
use crate::sandboxes::holder::Holder;
use crate::sandboxes::record::{Noted, backend_told, spec_told};
use crate::sandboxes::registry::One;
use crate::sandboxes::view::view;
use crate::sandboxes::wish::{CommandWish, GivenInput, SandboxWish};
use crate::{Caller, Core, Origin, Refusal, Reply};

/// Does what an agent asks for.
pub(crate) async fn perform(
    core: &Core,
    caller: &Caller,
    wish: AgentWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let AgentWish { does, correlation, is_tied } = wish;
    let tool = does.tool();
    if !core.inner.world.settings.mcp.tools.iter().any(|name| name == tool.name()) {
        let message = format!("the tool `{}` is off", tool.name());
        return Err(Refusal::new(ErrorCode::Forbidden, message)
            .with_hint("only the operator switches it on: mcp.tools"));
    }
    let agent = Agent { core, caller, open, tool, correlation, is_tied };
    match does {
        AgentDoes::RunCommand { session, command } => agent.run_command(session, command).await,
        AgentDoes::RunPython { session, code, timeout } => python::run(&agent, session, code, timeout).await,
        AgentDoes::Create { env, ports } => {
            let shown = Shown::variables(&env);
            let wish = SandboxWish { env, expose: ports, ..agent.wish()? };
            let (one, _) = agent.made(wish, shown).await?;
            Ok(Reply::Sandbox(Box::new(view(&one, None))))
        }
        AgentDoes::Exec { sandbox, command, background } => agent.exec(&sandbox, command, background).await,
        AgentDoes::Poll { sandbox, exec, cursor, wait_ms } => {
            let on = agent.tended(&sandbox, "exec.poll", json!({"execId": exec})).await?;
            background::polled(&on, &exec, cursor, wait_ms).await
        }
        AgentDoes::Kill { sandbox, exec } => {
            let on = agent.tended(&sandbox, "exec.kill", json!({"execId": exec})).await?;
            background::killed(&on, &exec, open).await
        }
        AgentDoes::ReadFile { sandbox, path } | AgentDoes::Download { sandbox, path } => {
            let on = agent.tended(&sandbox, "sandbox.read", json!({"path": path})).await?;
            files_on(&on, FileWish::Read { path }, open).await
        }
        AgentDoes::ListFiles { sandbox, path } => {
            let on = agent.tended(&sandbox, "sandbox.list-files", json!({"path": path})).await?;
            files_on(&on, FileWish::List { path }, open).await
        }
        AgentDoes::WriteFile { sandbox, path, bytes, executable }
        | AgentDoes::Upload { sandbox, path, bytes, executable } => {
            let text = text_or_hash(&bytes.clone().into_bytes());
            let shown = json!({"path": path, "content": text, "executable": executable});
            let on = agent.tended(&sandbox, "sandbox.write", shown).await?;
            files_on(&on, FileWish::Write { path, bytes, executable }, open).await
        }
        AgentDoes::Expose { sandbox, port } => {
            let on = agent.tended(&sandbox, "sandbox.expose", json!({"port": port})).await?;
            exposed(&on, port, open).await
        }
        AgentDoes::Close { sandbox } => {
            let on = agent.tended(&sandbox, "sandbox.remove", json!({})).await?;
            removed(&on, open).await
        }
    }
}

/// Somebody who asks by a tool.
pub(super) struct Agent<'a> {
    pub(super) core: &'a Core,
    pub(super) caller: &'a Caller,
    pub(super) open: &'a OpenCall,
    pub(super) tool: AgentTool,
    pub(super) correlation: Option<CorrelationId>,
    is_tied: bool,
}

impl<'a> Agent<'a> {
    /// The sandbox that the operator offers.
    pub(super) fn wish(&self) -> Result<SandboxWish, Refusal> {
        wish(&self.core.inner.world.settings, self.tool)
    }

    /// What is about to be done, as the record names it.
    pub(super) fn noted(
        &self,
        action: &'static str,
        sandbox: Option<&dyn Sandbox>,
    ) -> Result<Noted<'a>, Refusal> {
        let (own, of_sandbox) =
            (self.correlation.clone(), sandbox.and_then(|sandbox| sandbox.spec().correlation.clone()));
        let correlation = if self.is_tied { own.or(of_sandbox) } else { of_sandbox.or(own) };
        Noted::new(self.core, self.caller, self.open, action, correlation)
    }

    fn find(&self, sandbox: &str) -> Result<Arc<One>, Refusal> {
        self.core.inner.sandboxes.find_held(&Holder::of(self.caller), sandbox)
    }

    /// One of its own sandboxes, for what this tool does with it, once that is allowed.
    async fn tended(&self, sandbox: &str, action: &'static str, arguments: Value) -> Result<On<'a>, Refusal> {
        self.allowed(sandbox, action, Shown::arguments(arguments)).await.map(|(on, _)| on)
    }

    /// The same, with how the record names what follows.
    pub(super) async fn allowed(
        &self,
        sandbox: &str,
        action: &'static str,
        shown: Shown,
    ) -> Result<(On<'a>, Noted<'a>), Refusal> {
        let on = On::of(self.core, self.caller, self.find(sandbox)?);
        let shown = shown.with("sandboxId", &json!(on.sandbox().id()));
        let mut noted = self.noted(action, Some(on.sandbox()))?;
        let risk = self.risk(on.sandbox().spec(), on.sandbox().receipt().tier);
        judge(&mut noted, self.tool, (on.sandbox().spec(), risk), shown).await?;
        let on = on.told(noted.correlation.clone(), noted.about.clone());
        Ok((on, noted))
    }

    /// Makes a sandbox that is kept for this agent.
    pub(super) async fn made(
        &self,
        wish: SandboxWish,
        shown: Shown,
    ) -> Result<(Arc<One>, Noted<'a>), Refusal> {
        let mut noted = self.noted("sandbox.create", None)?;
        let (core, holder) = (self.core, Holder::of(self.caller));
        let most = core.inner.world.settings.mcp.sandbox.most;
        let ready = async {
            let resolved = core.resolved(&self.operators(), &wish, &noted.correlation)?;
            let place = core.inner.sandboxes.place_of(self.caller, None, Some((&holder, most)))?;
            let backend = resolved.pick(&core.inner.sandboxes.backends).await?;
            Ok((resolved, place, backend))
        };
        let (resolved, _place, backend) = match ready.await {
            Ok(ready) => ready,
            Err(refusal) => return noted.refused(wish_told(&wish), refusal).await,
        };
        let shown = shown.with("sandbox", &spec_told(resolved.spec()));
        let risk = self.risk(resolved.spec(), backend.tier());
        judge(&mut noted, self.tool, (resolved.spec(), risk), shown).await?;
        let making = async {
            let sandbox: Arc<dyn Sandbox> = Arc::from(resolved.create(backend.as_ref()).await?);
            let told = json!({
                "ok": true, "sandboxId": sandbox.id(), "receipt": sandbox.receipt(),
                "warnings": sandbox.warnings(),
            });
            Ok((core.keep_for(sandbox, None, self.caller, Vec::new(), Some(holder.clone())), told, None))
        };
        let arguments = json!({"sandbox": spec_told(resolved.spec())});
        let one = noted.done(arguments, backend_told(backend.as_ref()), making).await?;
        Ok((one, noted))
    }

    /// The badge of this tool on a sandbox of this spec behind this wall.
    pub(super) fn risk(&self, spec: &SandboxSpec, tier: Tier) -> Risk {
        self.tool.risk(spec, tier, &self.core.inner.world.settings.sandbox.private)
    }

    /// Whoever resolves what the operator offers: what is mounted is the operator's own word.
    pub(super) fn operators(&self) -> Caller {
        Caller { origin: Origin::Typed, ..self.caller.clone() }
    }

    async fn run_command(&self, session: Session, command: CommandWish) -> Result<Reply, Refusal> {
        match session {
            Session::Kept(sandbox) => self.exec(&sandbox, command, false).await,
            Session::New => {
                let wanted = checked(command)?;
                let (one, made) = self.made(self.wish()?, Shown::command(&wanted.command()?)).await?;
                let noted = self.noted("exec", Some(one.sandbox.as_ref()))?.about(made.about);
                exec_on(&noted, &On::of(self.core, self.caller, one), wanted.command()?, Keep::Captured).await
            }
            Session::None => {
                let (wanted, wish) = (checked(command)?, self.wish()?);
                let mut noted = self.noted("exec", None)?;
                let operators = self.operators();
                let (spec, tier) = self.looked(&operators, &wish, &noted).await?;
                let shown = Shown::command(&wanted.command()?).with("sandbox", &spec_told(&spec));
                let risk = self.risk(&spec, tier);
                judge(&mut noted, self.tool, (&spec, risk), shown).await?;
                let noted = Noted { caller: &operators, ..noted };
                exec_fresh(&noted, &wish, &wanted).await
            }
        }
    }

    /// What would be made of a wish, and behind which wall.
    pub(super) async fn looked(
        &self,
        operators: &Caller,
        wish: &SandboxWish,
        noted: &Noted<'_>,
    ) -> Result<(SandboxSpec, Tier), Refusal> {
        let looked = async {
            let resolved = self.core.resolved(operators, wish, &noted.correlation)?;
            let backend = resolved.pick(&self.core.inner.sandboxes.backends).await?;
            Ok((resolved.spec().clone(), backend.tier()))
        };
        match looked.await {
            Ok(looked) => Ok(looked),
            Err(refusal) => noted.refused(json!({"sandbox": wish_told(wish)}), refusal).await,
        }
    }

    async fn exec(&self, sandbox: &str, command: CommandWish, background: bool) -> Result<Reply, Refusal> {
        let wanted = checked(command)?.command()?;
        let shown = Shown::command(&wanted).with("background", &json!(background));
        let (on, noted) = self.allowed(sandbox, "exec", shown).await?;
        if background {
            return background::started(&noted, on, wanted).await.map(Reply::ExecStarted);
        }
        exec_on(&noted, &on, wanted, Keep::Captured).await
    }
}

/// A command that an agent may give: nobody types for it.
fn checked(command: CommandWish) -> Result<CommandWish, Refusal> {
    if command.input == GivenInput::Comes || command.terminal.is_some() {
        let message = "a command of an agent has no terminal, and nobody types for it";
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("give its input at once"));
    }
    Ok(CommandWish { keep_output: true, ..command })
}
