//! Command sandboxes: how long one takes from its start to its end, beside bubblewrap; a lease of a pool, beside a bare spawn; and
//! what 500 that idle weigh.

use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_sandbox::{
    Backend, Command, Limits, Pool, PoolOptions, Preset, Sandbox, SandboxError, SandboxSpec,
};
use bailiwick_sandbox_process::{Options, ProcessBackend};

use crate::calls::milliseconds;
use crate::cold::time;
use crate::failure::Failure;
use crate::memory::available_mib;
use crate::row::{Row, Target, Times};

/// Rounds in which a sandbox and its peer take turns, so that both see the same machine.
const ROUNDS: usize = 10;
const EACH: usize = 20;
/// Runs of `bailiwick exec`, of the program alone and in turns with another.
pub(crate) const EXECS: (usize, usize) = (20, 60);
/// Sandboxes alive at once.
const MANY: usize = 500;
/// The program that does nothing.
const NOTHING: &str = "/bin/true";

/// The peer, with the options that give a similar sandbox.
const BUBBLEWRAP: [&str; 9] =
    ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

/// The rows.
pub(crate) async fn sandboxes() -> Result<Vec<Row>, Failure> {
    let state = tempfile::tempdir().map_err(|source| Failure::Measure { what: "a directory", source })?;
    let backend: Arc<dyn Backend> = Arc::new(ProcessBackend::new(Options::new(state.path())));
    let mut rows = starts(backend.as_ref()).await?;
    rows.extend(leases(&backend).await?);
    rows.extend(idle(backend.as_ref()).await?);
    backend.close().await;
    Ok(rows)
}

fn failed(error: &SandboxError) -> Failure {
    Failure::Measure { what: "a sandbox", source: std::io::Error::other(error.to_string()) }
}

fn spec() -> SandboxSpec {
    SandboxSpec::new(Limits::preset(Preset::Standard))
}

async fn nothing(sandbox: &dyn Sandbox) -> Result<(), Failure> {
    let command = Command::new([NOTHING]).map_err(|error| failed(&error.into()))?;
    let result = sandbox.exec(command).await.map_err(|error| failed(&error))?;
    if result.exit.status() == 0 {
        return Ok(());
    }
    let source = std::io::Error::other(format!("{NOTHING} ended with {}", result.exit.status()));
    Err(Failure::Measure { what: "a command that does nothing", source })
}

/// A sandbox from its start to its end, and its peer.
async fn starts(backend: &dyn Backend) -> Result<Vec<Row>, Failure> {
    let (mut ours, mut made, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let has_peer = run(&BUBBLEWRAP).is_ok();
    for _ in 0..ROUNDS {
        for _ in 0..EACH {
            let began = Instant::now();
            let sandbox = backend.create(spec()).await.map_err(|error| failed(&error))?;
            made.push(milliseconds(began.elapsed()));
            nothing(sandbox.as_ref()).await?;
            sandbox.terminate().await.map_err(|error| failed(&error))?;
            ours.push(milliseconds(began.elapsed()));
        }
        for _ in 0..if has_peer { EACH } else { 0 } {
            let began = Instant::now();
            run(&BUBBLEWRAP).map_err(|source| Failure::Measure { what: "bwrap", source })?;
            theirs.push(milliseconds(began.elapsed()));
        }
    }
    let (ours, made, theirs) = (Times::new(ours), Times::new(made), Times::new(theirs));
    let mut rows = vec![
        Row { target: Some(Target::AtMost(10.0)), ..Row::of_times("sandbox.process.create", &made, "ms") },
        Row {
            against: has_peer.then_some("bwrap --unshare-all"),
            ratio: has_peer.then(|| ours.median() / theirs.median()),
            target: has_peer.then_some(Target::RatioAtMost(1.0)),
            ..Row::of_times("sandbox.process.start", &ours, "ms")
        },
    ];
    if has_peer {
        rows.push(Row::of_times("sandbox.peer.bwrap", &theirs, "ms"));
    }
    Ok(rows)
}

/// The row about one run of `bailiwick exec`, from exec to exit. It has a data directory of its own, which a run before it has made.
pub(crate) fn exec(program: &Path) -> Result<Vec<Row>, Failure> {
    let failed = |source| Failure::Measure { what: "bailiwick exec", source };
    let data = tempfile::tempdir().map_err(failed)?;
    let directory = data.path().display().to_string();
    let words = ["--data", directory.as_str(), "exec", "--", NOTHING];
    time(program, &words, "").map_err(failed)?;
    let time = time(program, &words, "").map_err(failed)?;
    Ok(vec![Row::new("sandbox.exec.cold", time, "ms", 1)])
}

/// Runs a program that ends by running one that does nothing.
#[expect(clippy::disallowed_methods, reason = "a peer, started by the operator to be measured beside")]
fn run(words: &[&str]) -> std::io::Result<()> {
    let [program, arguments @ ..] = words else { return Ok(()) };
    let arguments: Vec<&str> = if words.len() > 1 { [arguments, &[NOTHING]].concat() } else { Vec::new() };
    let status = Program::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("{program} ended with {status}")))
    }
}

/// A lease of a pool with a command in it, and a bare spawn.
async fn leases(backend: &Arc<dyn Backend>) -> Result<Vec<Row>, Failure> {
    let options = PoolOptions { max: 4, min_idle: 4, borrow_timeout: Duration::from_secs(30) };
    let pool = Pool::new(backend.clone(), spec(), options).map_err(|error| failed(&error))?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..EACH {
            let began = Instant::now();
            let lease = pool.borrow().await.map_err(|error| failed(&error))?;
            nothing(&*lease).await?;
            ours.push(milliseconds(began.elapsed()));
            lease.give_back().await;
        }
        for _ in 0..EACH {
            let began = Instant::now();
            run(&[NOTHING]).map_err(|source| Failure::Measure { what: "a bare spawn", source })?;
            bare.push(milliseconds(began.elapsed()));
        }
    }
    let counts = pool.counts();
    pool.close().await;
    let (ours, bare) = (Times::new(ours), Times::new(bare));
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let share = counts.reset as f64 / (counts.reset + counts.replaced).max(1) as f64;
    Ok(vec![
        Row {
            against: Some("posix_spawn + wait"),
            ratio: Some(ours.median() / bare.median()),
            target: Some(Target::RatioAtMost(2.0)),
            spread: Some(ours.spread()),
            ..Row::new("sandbox.pool.exec", ours.median(), "ms", ours.count())
        },
        Row::new("sandbox.pool.reset", share, "of all", ours.count()),
    ])
}

/// Many that idle.
async fn idle(backend: &dyn Backend) -> Result<Vec<Row>, Failure> {
    let before = available_mib();
    let mut all = Vec::with_capacity(MANY);
    for _ in 0..MANY {
        let sandbox = backend.create(spec()).await.map_err(|error| failed(&error))?;
        nothing(sandbox.as_ref()).await?;
        all.push(sandbox);
    }
    let taken = before - available_mib();
    let alive = all.iter().filter(|sandbox| sandbox.is_alive()).count();
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let (each, alive_share) = (taken / MANY as f64, alive as f64);
    for sandbox in all {
        sandbox.terminate().await.map_err(|error| failed(&error))?;
    }
    Ok(vec![
        Row {
            target: Some(Target::AtLeast(500.0)),
            ..Row::new("sandbox.process.alive", alive_share, "at once", alive)
        },
        Row { target: Some(Target::AtMost(5.0)), ..Row::new("sandbox.process.memory", each, "MiB", alive) },
    ])
}
