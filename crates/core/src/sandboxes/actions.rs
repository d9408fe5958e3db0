//! The actions on sandboxes: each finds what it is about, goes on the record, and is done.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_overlay::Moment;
use bailiwick_sandbox::Sandbox;
use bailiwick_types::{CorrelationId, ErrorCode, Usage};
use serde_json::{Value, json};

use super::attend::{Keep, attend};
use super::record::{About, Noted, backend_told, behind, command_told, result_told, spec_told, usage_told};
use super::registry::{One, Using};
use super::resolve::{Resolved, Rules, held, resolve};
use super::review::{Overlaid, after_one, overlaid};
use super::told;
use super::view::{Executed, line, view};
use super::wish::{CommandWish, ExecWish, SandboxWish, Target};
use crate::core::OpenCall;
use crate::{Caller, Core, Refusal, Reply};

/// How long commands of a sandbox have to end by themselves.
const GRACE: Duration = Duration::from_secs(5);

impl Core {
    /// A wish, resolved under the operator's settings.
    pub(crate) fn resolved(
        &self,
        caller: &Caller,
        wish: &SandboxWish,
        correlation: &CorrelationId,
    ) -> Result<Resolved, Refusal> {
        let world = &self.inner.world;
        let settings = &world.settings.sandbox;
        let mut own = settings.own.clone();
        own.extend([world.folders.data.clone(), world.folders.config.clone()]);
        let snapshot = wish.snapshot.as_deref();
        let snapshot = snapshot.map(|id| self.inner.sandboxes.snapshot(caller, id)).transpose()?;
        let rules = Rules { settings, own, roots: world.mount_roots.clone() };
        resolve(wish, &rules, caller.origin, snapshot, correlation)
    }
}

/// Makes a sandbox that outlives the command.
pub(crate) async fn create(
    core: &Core,
    caller: &Caller,
    wish: SandboxWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let noted = Noted::new(core, caller, open, "sandbox.create", wish.correlation.clone())?;
    let sandboxes = &core.inner.sandboxes;
    let ready = async {
        let resolved = core.resolved(caller, &wish, &noted.correlation)?;
        let place = sandboxes.place(caller, resolved.name.as_deref())?;
        let backend = resolved.pick(&sandboxes.backends).await?;
        Ok((resolved, place, backend))
    };
    let (resolved, _place, backend) = match ready.await {
        Ok(ready) => ready,
        Err(refusal) => return noted.refused(wish_told(&wish), refusal).await,
    };
    let arguments = json!({"name": resolved.name, "sandbox": spec_told(resolved.spec())});
    let made = async {
        let since = Moment::now();
        let sandbox: Arc<dyn Sandbox> = Arc::from(resolved.create(backend.as_ref()).await?);
        let overlaid = overlaid(sandbox.as_ref(), since)?;
        told::made(backend.id());
        let told = json!({
            "ok": true, "sandboxId": sandbox.id(), "receipt": sandbox.receipt(), "warnings": sandbox.warnings(),
        });
        Ok((core.keep(sandbox, resolved.name.clone(), caller, overlaid), told, None))
    };
    let one = noted.done(arguments, backend_told(backend.as_ref()), made).await?;
    Ok(Reply::Sandbox(Box::new(view(&one, None))))
}

/// Of a wish that was refused: what can be told without looking at it further.
pub(crate) fn wish_told(wish: &SandboxWish) -> Value {
    let SandboxWish { name, backend, tier, preset, limits, image, network, mounts, overlays, env, .. } = wish;
    json!({
        "name": name, "backend": backend, "tier": tier, "preset": preset, "limits": limits, "network": network,
        "image": image,
        "mounts": mounts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "overlays": overlays.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "env": env.keys().collect::<Vec<_>>(),
    })
}

/// The sandboxes that are kept.
pub(crate) fn list(core: &Core, caller: &Caller) -> Reply {
    Reply::Sandboxes(core.inner.sandboxes.all(caller).iter().map(|one| line(one)).collect())
}

/// One in full.
pub(crate) async fn show(core: &Core, caller: &Caller, sandbox: &str) -> Result<Reply, Refusal> {
    let one = core.inner.sandboxes.find(caller, sandbox)?;
    // One that cannot tell is shown all the same.
    let usage = one.sandbox.usage().await.ok();
    Ok(Reply::Sandbox(Box::new(view(&one, usage))))
}

/// Runs a command.
pub(crate) async fn exec(
    core: &Core,
    caller: &Caller,
    wish: ExecWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let ExecWish { target, command, correlation } = wish;
    let noted = Noted::new(core, caller, open, "exec", correlation)?;
    match target {
        Target::Fresh(wish) => exec_fresh(&noted, &wish, &command).await,
        Target::Kept(sandbox) => exec_kept(&noted, &sandbox, &command).await,
    }
}

pub(crate) async fn exec_fresh(
    noted: &Noted<'_>,
    wish: &SandboxWish,
    command: &CommandWish,
) -> Result<Reply, Refusal> {
    let (core, sandboxes) = (noted.core, &noted.core.inner.sandboxes);
    let ready = async {
        let wanted = command.command()?;
        let resolved = core.resolved(noted.caller, wish, &noted.correlation)?;
        let backend = resolved.pick(&sandboxes.backends).await?;
        Ok((wanted, resolved, backend))
    };
    let (wanted, resolved, backend) = match ready.await {
        Ok(ready) => ready,
        Err(refusal) => return noted.refused(json!({"sandbox": wish_told(wish)}), refusal).await,
    };
    let mut arguments = command_told(&wanted, resolved.spec().env.values());
    if let Value::Object(said) = &mut arguments {
        said.insert("sandbox".to_owned(), spec_told(resolved.spec()));
    }
    let ran = async {
        let since = Moment::now();
        let sandbox = resolved.create(backend.as_ref()).await?;
        told::made(backend.id());
        let ran = ran(noted, sandbox.as_ref(), wanted, command.keep()).await;
        let mut warnings = sandbox.warnings().to_vec();
        let ended_well = ran.as_ref().is_ok_and(|(executed, ..)| executed.result.exit.status() == 0);
        let changed =
            after_one(core.inner.world.data(), sandbox.as_ref(), since, wish.commit, ended_well).await;
        sandbox.terminate().await?;
        let (mut executed, told, usage) = ran?;
        warnings.extend(changed?);
        executed.warnings = warnings;
        Ok((executed, told, usage))
    };
    let executed = noted.done(arguments, backend_told(backend.as_ref()), ran).await?;
    Ok(Reply::Executed(Box::new(executed)))
}

async fn exec_kept(noted: &Noted<'_>, sandbox: &str, command: &CommandWish) -> Result<Reply, Refusal> {
    let found = command.command().map_err(Refusal::from);
    let found = found.and_then(|wanted| Ok((wanted, On::find(noted.core, noted.caller, sandbox)?)));
    match found {
        Ok((wanted, on)) => exec_on(noted, &on, wanted, command.keep()).await,
        Err(refusal) => noted.refused(json!({"sandboxId": sandbox}), refusal).await,
    }
}

/// Runs a command in a sandbox that was found.
pub(crate) async fn exec_on(
    noted: &Noted<'_>,
    on: &On<'_>,
    wanted: bailiwick_sandbox::Command,
    keep: Keep,
) -> Result<Reply, Refusal> {
    let inside = on.sandbox();
    let mut arguments = command_told(&wanted, inside.spec().env.values());
    if let Value::Object(said) = &mut arguments {
        said.insert("sandboxId".to_owned(), json!(inside.id()));
    }
    let ran = ran(noted, inside, wanted, keep);
    let executed = noted.done(arguments, behind(inside), ran).await?;
    noted.core.tell_sandbox("exec", on.one(), 1, Some(executed.result.exit_status()));
    Ok(Reply::Executed(Box::new(executed)))
}

/// Runs a command until it ends, or the core is about to close.
pub(crate) async fn ran(
    noted: &Noted<'_>,
    sandbox: &dyn Sandbox,
    command: bailiwick_sandbox::Command,
    keep: Keep,
) -> Result<(Executed, Value, Option<Usage>), Refusal> {
    let attended = attend(sandbox, command, noted.caller.talk.as_ref(), keep, noted.correlation.clone());
    let result = tokio::select! {
        result = attended => result.map_err(Refusal::from),
        () = noted.core.inner.closing.cancelled() => {
            let message = "the process that runs it is ending, and so did the command";
            Err(Refusal::new(ErrorCode::Cancelled, message).with_hint("run it again"))
        }
    };
    told::ended(&result);
    let result = result?;
    let (told, usage) = (result_told(&result), usage_told(&result.usage));
    Ok((Executed { result, warnings: Vec::new() }, told, Some(usage)))
}

/// A kept sandbox that an action is about.
pub(crate) struct On<'a> {
    core: &'a Core,
    caller: &'a Caller,
    using: Using,
    /// What caused what is done; what caused the sandbox where nobody said.
    correlation: Option<CorrelationId>,
    about: About,
}

impl<'a> On<'a> {
    /// Finds it, and uses it from here on.
    pub(crate) fn find(core: &'a Core, caller: &'a Caller, sandbox: &str) -> Result<Self, Refusal> {
        Ok(Self::of(core, caller, core.inner.sandboxes.find(caller, sandbox)?))
    }

    /// Its overlays.
    pub(crate) fn overlaid(&self) -> &[Overlaid] {
        &self.using.one.overlaid
    }

    /// One that was found.
    pub(crate) fn of(core: &'a Core, caller: &'a Caller, one: Arc<One>) -> Self {
        let correlation = one.sandbox.spec().correlation.clone();
        Self { core, caller, using: core.use_of(one), correlation, about: About::default() }
    }

    /// With what else the record tells of what is done to it.
    pub(crate) fn told(self, correlation: CorrelationId, about: About) -> Self {
        Self { correlation: Some(correlation), about, ..self }
    }

    pub(crate) fn one(&self) -> &Arc<One> {
        &self.using.one
    }

    /// It is used for longer than this.
    pub(crate) fn into_using(self) -> Using {
        self.using
    }

    /// Whether an agent's tool does something to it.
    pub(crate) fn is_by_agent(&self) -> bool {
        self.about.tool.is_some()
    }

    pub(crate) fn sandbox(&self) -> &dyn Sandbox {
        self.using.one.sandbox.as_ref()
    }

    /// Does something to it that gives nothing back, on the record.
    pub(crate) async fn note(
        &self,
        open: &OpenCall,
        action: &'static str,
        arguments: Value,
        doing: impl Future<Output = Result<(), Refusal>>,
    ) -> Result<Reply, Refusal> {
        let done = async { doing.await.map(|()| ((), json!({"ok": true}), None)) };
        self.noted(open, action, arguments, done).await?;
        self.core.tell_sandbox(action, self.one(), 1, None);
        Ok(Reply::Done)
    }

    pub(crate) async fn noted<T>(
        &self,
        open: &OpenCall,
        action: &'static str,
        mut arguments: Value,
        doing: impl Future<Output = Result<(T, Value, Option<Usage>), Refusal>>,
    ) -> Result<T, Refusal> {
        if let Value::Object(said) = &mut arguments {
            said.insert("sandboxId".to_owned(), json!(self.sandbox().id()));
        }
        let noted = Noted::new(self.core, self.caller, open, action, self.correlation.clone())?;
        let noted = noted.about(self.about.clone());
        noted.done(arguments, behind(self.sandbox()), doing).await
    }
}

/// Ends what runs in it; its files are kept.
pub(crate) async fn stop(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    on.note(open, "sandbox.stop", json!({}), async { Ok(on.sandbox().stop(GRACE).await?) }).await
}

/// Ends it and removes everything.
pub(crate) async fn remove(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    removed(&On::find(core, caller, sandbox)?, open).await
}

/// The same of one that was found.
pub(crate) async fn removed(on: &On<'_>, open: &OpenCall) -> Result<Reply, Refusal> {
    let (id, sandboxes) = (on.sandbox().id(), &on.core.inner.sandboxes);
    on.note(open, "sandbox.remove", json!({}), async { Ok(sandboxes.remove(id).await?) }).await
}

/// Forwards a port of the host's loopback to a port inside.
pub(crate) async fn expose(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    port: u16,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    exposed(&On::find(core, caller, sandbox)?, port, open).await
}

/// The same of one that was found.
pub(crate) async fn exposed(on: &On<'_>, port: u16, open: &OpenCall) -> Result<Reply, Refusal> {
    let listed = &on.sandbox().spec().expose;
    if !listed.contains(&port) {
        let message =
            format!("the port {port} is not among those that the sandbox was made with ({listed:?})");
        return Err(Refusal::new(ErrorCode::InvalidInput, message)
            .with_hint("make one that lists it: `ports` of sandbox_create, `--expose` of `sandbox create`"));
    }
    let forwarded = async {
        let host_port = on.sandbox().expose(port).await?;
        Ok((host_port, json!({"ok": true, "hostPort": host_port}), None))
    };
    let host_port = on.noted(open, "sandbox.expose", json!({"port": port}), forwarded).await?;
    on.one().exposes(port, host_port);
    Ok(Reply::Exposed { port, host_port })
}

/// The ports that are exposed.
pub(crate) fn ports(core: &Core, caller: &Caller, sandbox: &str) -> Result<Reply, Refusal> {
    Ok(Reply::Ports(core.inner.sandboxes.find(caller, sandbox)?.exposed()))
}

/// Puts it to sleep.
pub(crate) async fn hibernate(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    let asleep = async {
        on.sandbox().hibernate().await?;
        on.one().sleeps(true);
        Ok(())
    };
    on.note(open, "sandbox.hibernate", json!({}), asleep).await
}

/// Wakes it.
pub(crate) async fn resume(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    let awake = async {
        on.sandbox().resume().await?;
        on.one().sleeps(false);
        Ok(())
    };
    on.note(open, "sandbox.resume", json!({}), awake).await
}

/// Keeps the state of its files.
pub(crate) async fn snapshot(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    core.inner.sandboxes.has_room_for_snapshot()?;
    let taken = async {
        let snapshot = on.sandbox().snapshot().await?;
        let told = json!({"ok": true, "snapshotId": snapshot.id, "bytes": snapshot.bytes});
        let line = core.snapshot_line(snapshot, on.sandbox().id());
        core.inner.sandboxes.keep_snapshot(line.clone(), caller.key);
        Ok((line, told, None))
    };
    Ok(Reply::Snapshots(vec![on.noted(open, "sandbox.snapshot", json!({}), taken).await?]))
}

/// The snapshots that are kept.
pub(crate) fn snapshots(core: &Core, caller: &Caller) -> Reply {
    Reply::Snapshots(core.inner.sandboxes.snapshots(caller))
}

/// Forgets a snapshot.
pub(crate) async fn forget(
    core: &Core,
    caller: &Caller,
    snapshot: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let snapshot = core.inner.sandboxes.snapshot(caller, snapshot)?;
    let noted = Noted::new(core, caller, open, "snapshot.forget", None)?;
    let (arguments, backend) = (json!({"snapshotId": snapshot.id}), json!({"id": snapshot.backend}));
    let forgotten = async {
        core.inner.sandboxes.forget(&snapshot).await?;
        Ok(((), json!({"ok": true}), None))
    };
    noted.done(arguments, backend, forgotten).await?;
    Ok(Reply::Done)
}

/// Another sandbox that begins with the state of this one's files.
pub(crate) async fn fork(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    name: Option<String>,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let on = On::find(core, caller, sandbox)?;
    let name = name.as_deref().map(super::resolve::name).transpose()?;
    let _place = core.inner.sandboxes.place(caller, name.as_deref())?;
    let forked = async {
        // It is held to what it is a fork of.
        let (from, lenient) = (on.sandbox(), core.inner.sandboxes.backends.lenient());
        let forked = held(from.receipt().tier, from.spec(), lenient, from.fork().await?).await?;
        let sandbox: Arc<dyn Sandbox> = Arc::from(forked);
        told::made(sandbox.backend());
        let told = json!({"ok": true, "forkId": sandbox.id(), "receipt": sandbox.receipt()});
        Ok((core.keep(sandbox, name.clone(), caller, Vec::new()), told, None))
    };
    let one = on.noted(open, "sandbox.fork", json!({"name": name}), forked).await?;
    Ok(Reply::Sandbox(Box::new(view(&one, None))))
}
