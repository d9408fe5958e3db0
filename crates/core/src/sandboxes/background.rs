//! Commands that run in a kept sandbox while nobody waits for them: started, looked at, ended, each on the record from its
//! start to its end. What they say goes by in a ring; they end with their sandbox and with the core, and there are only so
//! many. A sandbox in which one runs is in use.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_sandbox::{Chunk, Command, ExecResult, Input, Stream};
use bailiwick_types::{CallId, ErrorCode, shortened};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::actions::On;
use super::attend::{Keep, attend};
use super::record::{Noted, behind, command_told, ended, result_told, usage_told};
use super::registry::One;
use super::ring::Ring;
use super::view::{Cursor, ExecLine, ExecView, OutputPiece};
use super::wish::{ExecWish, GivenInput, InputBytes, Target};
use crate::core::OpenCall;
use crate::{Caller, Core, Refusal, Reply, Talk};

/// The most that run at once in one sandbox.
pub(crate) const MOST_RUNNING: usize = 8;
/// The most that run at once in all of them.
const MOST_IN_ALL: usize = 64;
/// Those that have ended and can still be looked at, in one sandbox.
const MOST_ENDED: usize = 16;
/// What is kept of each stream, in bytes.
pub(crate) const KEPT: usize = 256 * 1024;
/// The most of each stream that one look gives.
const MOST_AT_ONCE: usize = 64 * 1024;
/// The longest that one look waits for news.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long the end of a command that is killed is waited for.
const ENDS_IN: Duration = Duration::from_secs(10);

/// The commands of one sandbox.
#[derive(Default)]
pub(crate) struct Execs(Mutex<BTreeMap<CallId, Arc<Exec>>>);

/// One command.
pub(crate) struct Exec {
    id: CallId,
    argv: Vec<String>,
    state: Mutex<State>,
    changed: Notify,
    kill: CancellationToken,
}

struct State {
    stdout: Ring,
    stderr: Ring,
    ended: Option<Result<ExecResult, Refusal>>,
}

/// A place among those that run at once.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn among(all: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |running: usize| (running < MOST_IN_ALL).then_some(running + 1);
        all.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok().map(|_| Self(all.clone()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Execs {
    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<CallId, Arc<Exec>>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes one in, if there is room; the oldest that has ended goes where there is none for those.
    fn enter(&self, exec: Arc<Exec>) -> Result<(), Refusal> {
        self.change(|execs| {
            let running = execs.values().filter(|exec| exec.runs()).count();
            if running >= MOST_RUNNING {
                return Err(too_many("this sandbox", running));
            }
            if execs.len() - running >= MOST_ENDED
                && let Some(oldest) = execs.values().find(|exec| !exec.runs()).map(|exec| exec.id)
            {
                execs.remove(&oldest);
            }
            execs.insert(exec.id, exec);
            Ok(())
        })
    }

    fn leave(&self, id: CallId) {
        self.change(|execs| execs.remove(&id));
    }

    fn find(&self, text: &str) -> Result<Arc<Exec>, Refusal> {
        let found = CallId::parse(text).ok().and_then(|id| self.change(|execs| execs.get(&id).cloned()));
        found.ok_or_else(|| {
            let message = format!("no command `{}` runs or ran in this sandbox", shortened(text));
            Refusal::new(ErrorCode::NotFound, message)
                .with_hint(format!("its id came with its start; the last {MOST_ENDED} that ended are kept"))
        })
    }

    fn all(&self) -> Vec<Arc<Exec>> {
        self.change(|execs| execs.values().cloned().collect())
    }
}

fn too_many(place: &str, running: usize) -> Refusal {
    let message =
        format!("{running} commands run in {place} while nobody waits for them, and not more at once");
    Refusal::new(ErrorCode::Busy, message).with_hint("end one of them, or wait until one ends")
}

impl Exec {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn runs(&self) -> bool {
        self.change(|state| state.ended.is_none())
    }

    fn end(&self, how: Result<ExecResult, Refusal>) {
        self.change(|state| state.ended = Some(how));
        self.changed.notify_waiters();
    }

    fn line(&self) -> ExecLine {
        ExecLine { id: self.id, argv: self.argv.clone(), is_running: self.runs() }
    }

    fn view(&self, cursor: Cursor) -> ExecView {
        self.change(|state| {
            let is_running = state.ended.is_none();
            let piece = |ring: &Ring, from| ring.read(from, MOST_AT_ONCE, is_running);
            let (out, err) = (piece(&state.stdout, cursor.stdout), piece(&state.stderr, cursor.stderr));
            let next = Cursor { stdout: out.next, stderr: err.next };
            let told = |piece: super::ring::Piece| OutputPiece {
                bytes: InputBytes::new(piece.bytes),
                dropped: piece.dropped,
                is_more: piece.is_more,
            };
            let (result, failure) = match state.ended.clone() {
                Some(Ok(result)) => (Some(result), None),
                Some(Err(refusal)) => (None, Some(refusal)),
                None => (None, None),
            };
            let line = ExecLine { id: self.id, argv: self.argv.clone(), is_running };
            ExecView { line, stdout: told(out), stderr: told(err), cursor: next, result, failure }
        })
    }

    /// What there is behind a cursor; waits for it at most so long.
    async fn look(&self, cursor: Cursor, wait: Duration) -> ExecView {
        let news = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let view = self.view(cursor);
                if !view.line.is_running || view.cursor != cursor {
                    return view;
                }
                changed.await;
            }
        };
        match tokio::time::timeout(wait.min(LONGEST_WAIT), news).await {
            Ok(view) => view,
            Err(_) => self.view(cursor),
        }
    }
}

/// Keeps what it hears, and has nothing to say but an end.
impl Talk for Exec {
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.change(|state| match chunk.stream {
            Stream::Stdout => state.stdout.push(&chunk.bytes),
            Stream::Stderr => state.stderr.push(&chunk.bytes),
        });
        self.changed.notify_waiters();
        Box::pin(std::future::ready(()))
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async {
            self.kill.cancelled().await;
            Some(Input::Kill)
        })
    }
}

/// Starts a command in a kept sandbox.
pub(crate) async fn start(
    core: &Core,
    caller: &Caller,
    wish: ExecWish,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    let ExecWish { target, command, correlation } = wish;
    let Target::Kept(sandbox) = target else {
        let message = "a command that nobody waits for needs a sandbox that is kept";
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("make one first"));
    };
    let on = On::find(core, caller, &sandbox)?;
    let correlation = correlation.or_else(|| on.sandbox().spec().correlation.clone());
    let noted = Noted::new(core, caller, open, "exec", correlation)?;
    if command.input == GivenInput::Comes || command.terminal.is_some() {
        let message = "a command that nobody waits for has no terminal, and nobody types for it";
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("give its input at once"));
    }
    started(&noted, on, command.command()?).await.map(Reply::ExecStarted)
}

/// Starts it, between its intent and whatever ends it.
pub(crate) async fn started(noted: &Noted<'_>, on: On<'_>, command: Command) -> Result<ExecLine, Refusal> {
    let core = noted.core;
    let inside = on.sandbox();
    let mut arguments = command_told(&command, inside.spec().env.values());
    let argv = arguments.get("argv").and_then(Value::as_array).into_iter().flatten();
    let argv = argv.filter_map(Value::as_str).map(shortened).collect();
    if let Value::Object(said) = &mut arguments {
        said.insert("sandboxId".to_owned(), json!(inside.id()));
        said.insert("background".to_owned(), json!(true));
    }
    let Some(counted) = Counted::among(&core.inner.sandboxes.unattended) else {
        return noted.refused(arguments, too_many("all sandboxes together", MOST_IN_ALL)).await;
    };
    let exec = Arc::new(Exec {
        id: noted.call_id,
        argv,
        state: Mutex::new(State { stdout: Ring::new(KEPT), stderr: Ring::new(KEPT), ended: None }),
        changed: Notify::new(),
        kill: CancellationToken::new(),
    });
    let execs = &on.one().execs;
    if let Err(refusal) = execs.enter(exec.clone()) {
        return noted.refused(arguments, refusal).await;
    }
    // Whoever goes away before it began leaves nothing that seems to run.
    let entered = Entered { one: Some(on.one().clone()), id: exec.id };
    noted.begins(arguments, behind(inside)).await?;
    let Some(entry) = noted.open.take() else { return Err(Refusal::internal(noted.action)) };
    let (line, closing) = (exec.line(), core.inner.closing.clone());
    let (correlation, weak) = (noted.correlation.clone(), Arc::downgrade(&core.inner));
    let using = on.into_using();
    entered.stays();
    core.inner.late.spawn(async move {
        let attended = attend(using.one.sandbox.as_ref(), command, &*exec, Keep::Unending, correlation);
        let result = tokio::select! {
            result = attended => result.map_err(Refusal::from),
            () = closing.cancelled() => Err(Refusal::new(ErrorCode::Cancelled, "the server is ending")),
        };
        let told = result.map(|result| {
            let (told, usage) = (result_told(&result), usage_told(&result.usage));
            (result, told, Some(usage))
        });
        // Where nobody is left who keeps the record, nobody is left who could look either.
        let result = match weak.upgrade() {
            Some(inner) => ended(&Core { inner }, entry, told).await,
            None => Err(Refusal::internal("exec")),
        };
        // Before its end is told: who hears of the end may start another in its place.
        drop((counted, using));
        exec.end(result);
    });
    Ok(line)
}

/// A command that was taken in and has not begun.
struct Entered {
    one: Option<Arc<One>>,
    id: CallId,
}

impl Entered {
    fn stays(mut self) {
        self.one = None;
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(one) = self.one.take() {
            one.execs.leave(self.id);
        }
    }
}

/// What a command said behind a cursor, and how it ended if it did.
pub(crate) async fn poll(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    exec: &str,
    cursor: Cursor,
    wait_ms: u64,
) -> Result<Reply, Refusal> {
    polled(&On::find(core, caller, sandbox)?, exec, cursor, wait_ms).await
}

/// The same of a sandbox that was found.
pub(crate) async fn polled(on: &On<'_>, exec: &str, cursor: Cursor, wait_ms: u64) -> Result<Reply, Refusal> {
    let exec = on.one().execs.find(exec)?;
    Ok(Reply::ExecView(Box::new(exec.look(cursor, Duration::from_millis(wait_ms)).await)))
}

/// The commands of a sandbox that nobody waits for, the oldest first.
pub(crate) fn all(core: &Core, caller: &Caller, sandbox: &str) -> Result<Reply, Refusal> {
    let one = core.inner.sandboxes.find(caller, sandbox)?;
    Ok(Reply::Execs(one.execs.all().iter().map(|exec| exec.line()).collect()))
}

/// Ends a command with everything that it started.
pub(crate) async fn kill(
    core: &Core,
    caller: &Caller,
    sandbox: &str,
    exec: &str,
    open: &OpenCall,
) -> Result<Reply, Refusal> {
    killed(&On::find(core, caller, sandbox)?, exec, open).await
}

/// The same of a sandbox that was found.
pub(crate) async fn killed(on: &On<'_>, exec: &str, open: &OpenCall) -> Result<Reply, Refusal> {
    let exec = on.one().execs.find(exec)?;
    let ending = async {
        exec.kill.cancel();
        let gone = async {
            while exec.runs() {
                let changed = exec.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if exec.runs() {
                    changed.await;
                }
            }
        };
        if tokio::time::timeout(ENDS_IN, gone).await.is_err() {
            let message = format!("the command did not end within {} seconds", ENDS_IN.as_secs());
            return Err(Refusal::new(ErrorCode::Timeout, message).with_hint("close the sandbox"));
        }
        Ok(())
    };
    on.note(open, "exec.kill", json!({"execId": exec.id}), ending).await?;
    Ok(Reply::ExecView(Box::new(exec.view(Cursor::default()))))
}
