//! How long a backend takes: a sandbox is made, used and ended, a few times, and never for longer than somebody waits.

use std::time::{Duration, Instant};

use bailiwick_sandbox::{Backend, SandboxError};

/// Sandboxes that are timed, unless they are slow.
const SANDBOXES: usize = 5;
/// Commands in one of them that are timed, unless they are slow.
const COMMANDS: usize = 11;
/// After so long enough were timed.
const ENOUGH: Duration = Duration::from_secs(3);
/// The longest that all of it takes.
pub(super) const LONGEST: Duration = Duration::from_secs(30);
/// The longest that a backend is waited for in the end.
const CLOSING: Duration = Duration::from_secs(10);

/// Medians.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    /// A sandbox made, used once and ended.
    pub(super) start: Duration,
    /// A command in one that stands.
    pub(super) command: Duration,
}

/// Why there are none.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Untimed {
    /// It takes longer than somebody waits for a figure. That does not keep it from being used.
    Late,
    /// No sandbox was made, or none that runs a command.
    Failed(SandboxError),
}

/// Times the simplest sandbox of a backend.
pub(super) async fn times(backend: &dyn Backend) -> Result<Times, Untimed> {
    match tokio::time::timeout(LONGEST, measured(backend)).await {
        Ok(times) => times.map_err(Untimed::Failed),
        Err(_) => Err(Untimed::Late),
    }
}

async fn measured(backend: &dyn Backend) -> Result<Times, SandboxError> {
    let (spec, nothing) = backend.simplest()?;
    let began = Instant::now();
    let mut starts = Vec::with_capacity(SANDBOXES);
    while starts.is_empty() || (starts.len() < SANDBOXES && began.elapsed() < ENOUGH) {
        let began = Instant::now();
        let sandbox = backend.create(spec.clone()).await?;
        sandbox.exec(nothing.clone()).await?;
        sandbox.terminate().await?;
        starts.push(began.elapsed());
    }
    let sandbox = backend.create(spec).await?;
    let began = Instant::now();
    let mut commands = Vec::with_capacity(COMMANDS);
    while commands.is_empty() || (commands.len() < COMMANDS && began.elapsed() < ENOUGH) {
        let began = Instant::now();
        sandbox.exec(nothing.clone()).await?;
        commands.push(began.elapsed());
    }
    sandbox.terminate().await?;
    Ok(Times { start: median(starts), command: median(commands) })
}

/// Lets a backend end what it still runs.
pub(super) async fn close(backend: &dyn Backend) {
    if tokio::time::timeout(CLOSING, backend.close()).await.is_err() {
        tracing::warn!(backend = backend.id(), "it did not end in time what it runs");
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
