//! Python for an agent: code by itself, or in a session whose variables stay. A small driver inside runs it and tells what
//! came of it; what it says is the guest's word and is only shown.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Command, Exit, Sandbox, SandboxPath};
use bailiwick_types::{CallId, ErrorCode, Usage, parse_duration_ms};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Session;
use super::judge::judge;
use super::perform::Agent;
use super::shown::Shown;
use crate::sandboxes::actions::{On, ran, wish_told};
use crate::sandboxes::attend::Keep;
use crate::sandboxes::record::{Noted, backend_told, behind, spec_told};
use crate::sandboxes::registry::One;
use crate::sandboxes::view::{Executed, PythonRan};
use crate::{Refusal, Reply};

/// What runs the code.
const DRIVER: &str = include_str!("driver.py");
/// The longest code, in bytes.
const LONGEST: usize = 1 << 20;
/// The most that the driver may tell, in bytes.
const MOST_TOLD: u64 = 1 << 20;

/// How the driver runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// By itself.
    Once,
    /// In a process that keeps variables, which it starts.
    First,
    /// In the one that is there.
    Next,
}

/// What the driver told.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    value: Option<String>,
    error: Option<String>,
    /// The process that kept the variables ended meanwhile.
    lost: bool,
    /// It had ended before, so nothing ran.
    gone: bool,
}

/// Runs code.
pub(super) async fn run(
    agent: &Agent<'_>,
    session: Session,
    code: String,
    timeout: Option<String>,
) -> Result<Reply, Refusal> {
    if code.len() > LONGEST {
        let message = format!("the code has {} bytes, and at most {LONGEST} are taken", code.len());
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("write it to a file first"));
    }
    let timeout = timeout.as_deref().map(parse_duration_ms).transpose();
    let timeout = timeout
        .map_err(|error| Refusal::new(ErrorCode::InvalidInput, format!("the timeout: {error}")))?
        .map(Duration::from_millis);
    let shown = || Shown {
        code: Some(code.clone()),
        ..Shown::arguments(json!({"timeoutMs": timeout.map(|t| t.as_millis())}))
    };
    let given = Given { code: &code, timeout };
    match session {
        Session::None => once(agent, &given, shown()).await,
        Session::New => {
            let (one, made) = agent.made(agent.wish()?, shown()).await?;
            let noted = agent.noted("exec", Some(one.sandbox.as_ref()))?.about(made.about);
            kept(&noted, &On::of(agent.core, agent.caller, one), &given).await
        }
        Session::Kept(id) => {
            let (on, noted) = agent.allowed(&id, "exec", shown()).await?;
            kept(&noted, &on, &given).await
        }
    }
}

struct Given<'a> {
    code: &'a str,
    timeout: Option<Duration>,
}

impl Given<'_> {
    fn told(&self, sandbox: Value) -> Value {
        let mut told = json!({"python": self.code, "timeoutMs": self.timeout.map(|t| t.as_millis())});
        if let (Value::Object(told), Value::Object(sandbox)) = (&mut told, sandbox) {
            told.extend(sandbox);
        }
        told
    }
}

async fn once(agent: &Agent<'_>, given: &Given<'_>, shown: Shown) -> Result<Reply, Refusal> {
    let wish = agent.wish()?;
    let mut noted = agent.noted("exec", None)?;
    let operators = agent.operators();
    let ready = async {
        let resolved = agent.core.resolved(&operators, &wish, &noted.correlation)?;
        let backend = resolved.pick(&agent.core.inner.sandboxes.backends).await?;
        Ok((resolved, backend))
    };
    let (resolved, backend) = match ready.await {
        Ok(ready) => ready,
        Err(refusal) => return noted.refused(json!({"sandbox": wish_told(&wish)}), refusal).await,
    };
    let shown = shown.with("sandbox", &spec_told(resolved.spec()));
    let risk = agent.risk(resolved.spec(), backend.tier());
    judge(&mut noted, agent.tool, (resolved.spec(), risk), shown).await?;
    let arguments = given.told(json!({"sandbox": spec_told(resolved.spec())}));
    let running = async {
        let sandbox = resolved.create(backend.as_ref()).await?;
        let driven = drive(&noted, sandbox.as_ref(), given, Mode::Once).await;
        let warnings = sandbox.warnings().to_vec();
        sandbox.terminate().await?;
        let (mut executed, told, usage) = driven?;
        executed.0.warnings = warnings;
        Ok((executed, told, usage))
    };
    let (executed, told) = noted.done(arguments, backend_told(backend.as_ref()), running).await?;
    let Told { value, error, .. } = told;
    Ok(Reply::Python(Box::new(PythonRan { executed, value, error, session: None, is_lost: false })))
}

/// Runs code where variables stay, one call after another.
async fn kept(noted: &Noted<'_>, on: &On<'_>, given: &Given<'_>) -> Result<Reply, Refusal> {
    let inside = on.sandbox();
    let mut has_python = on.one().has_python.lock().await;
    let mode = if *has_python { Mode::Next } else { Mode::First };
    // Until it is seen that they are still there, the variables are lost.
    *has_python = false;
    let mut ending = Ending(Some(on.one().clone()));
    let running = async {
        let driven = drive(noted, inside, given, mode).await;
        // Whoever cannot tell how it went keeps no variables.
        let keeps = |executed: &Executed, told: &Told| !(executed.result.timed_out || told.lost || told.gone);
        let is_lost = driven.as_ref().map_or(true, |((executed, told), ..)| !keeps(executed, told));
        ending.0 = None;
        if is_lost {
            // The process that kept them may still run what was late, and is found by nothing but its sandbox.
            inside.stop(Duration::ZERO).await?;
        }
        let ((executed, told), outcome, usage) = driven?;
        if told.gone {
            return Err(gone());
        }
        Ok(((executed, told, is_lost), outcome, usage))
    };
    let arguments = given.told(json!({"sandboxId": inside.id()}));
    let (executed, told, is_lost) = noted.done(arguments, behind(inside), running).await?;
    *has_python = !is_lost;
    let Told { value, error, .. } = told;
    let session = Some(inside.id());
    Ok(Reply::Python(Box::new(PythonRan { executed, value, error, session, is_lost })))
}

/// Ends what runs in a session when nobody waits for it any more: its process is no child of the command that asked it.
struct Ending(Option<Arc<One>>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let (Some(one), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = one.sandbox.stop(Duration::ZERO).await {
                    tracing::warn!(%error, "a session that nobody waits for did not end");
                }
            });
        }
    }
}

fn gone() -> Refusal {
    let message = "the Python of this session had ended, and its variables are lost; the code did not run";
    Refusal::new(ErrorCode::Conflict, message)
        .with_hint("call again to begin without variables; the files of the session are still there")
}

/// Runs the driver, and reads what it told.
async fn drive(
    noted: &Noted<'_>,
    inside: &dyn Sandbox,
    given: &Given<'_>,
    mode: Mode,
) -> Result<((Executed, Told), Value, Option<Usage>), Refusal> {
    let place = place_of(noted.call_id)?;
    let word = match mode {
        Mode::Once => "once",
        Mode::First => "first",
        Mode::Next => "next",
    };
    let words = ["python3", "-c", DRIVER, word, place.as_str()];
    let mut command = Command::new(words)
        .and_then(|command| command.with_input(given.code.to_owned().into()))
        .map_err(bailiwick_sandbox::SandboxError::from)?;
    if let Some(timeout) = given.timeout {
        command = command.with_timeout(timeout).map_err(bailiwick_sandbox::SandboxError::from)?;
    }
    let (executed, outcome, usage) = ran(noted, inside, command, Keep::Captured).await?;
    if executed.result.exit == Exit::NotFound {
        let message = "there is no python3 in the sandbox";
        return Err(Refusal::new(ErrorCode::NotFound, message)
            .with_hint("only the operator changes its image: mcp.python.image"));
    }
    // One that was ended has told nothing.
    let lost = || Told { lost: true, ..Told::default() };
    let told = match inside.read_file(&place, MOST_TOLD).await {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|_| lost()),
        Err(_) => lost(),
    };
    if mode != Mode::Once {
        // It is only in the way of whoever lists files.
        let _left = inside.remove(&place).await;
    }
    Ok(((executed, told), outcome, usage))
}

fn place_of(call: CallId) -> Result<SandboxPath, Refusal> {
    SandboxPath::new(&format!("/tmp/.bailiwick-{call}"))
        .map_err(|error| Refusal::new(ErrorCode::Internal, error.to_string()))
}
