//! `bailiwick exec`: one command in a sandbox of its own, which is gone afterwards.
//!
//! It runs in this process, so that it ends with it, whatever ends it; the record is kept by whoever owns the data folder.
//! With the address of a server it runs there instead, and whoever goes away here ends it there.
//! Exits as the command does; 124 when its time was up, 125 for what is ours, 126 and 127 for what did not begin.

pub(crate) mod console;
pub(crate) mod told;
pub(crate) mod wish;

use std::path::Path;
use std::sync::Arc;

use bailiwick_core::sandboxes::{
    CommandWish, ExecIntent, ExecOutcome, ExecWish, Keep, Moment, MountRoots, Resolved, Rules, Target,
    after_one, attend, resolve,
};
use bailiwick_core::{Action, Origin, Refusal, new_correlation};
use bailiwick_sandbox::{Backend, Command, ExecResult, Sandbox};
use bailiwick_types::{CorrelationId, ErrorCode};

use self::console::Console;
use self::told::tell;
use super::sandbox::inside;
use crate::backends;
use crate::desk::{ask, at_desk};
use crate::failure::Failure;
use crate::render::{Screen, plain, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::CellFlags;
use crate::typed::sandbox::Exec;

/// What is ours: denied, not to be held, not available.
const OURS: u8 = 125;
/// What was typed.
const USAGE: u8 = 2;
/// Nothing of this runs JavaScript.
pub(crate) const NO_CELLS: CellFlags = CellFlags { insecure_cells: false };

/// `bailiwick exec`
pub(crate) fn exec(screen: &mut Screen, session: &Session, what: &Exec) -> u8 {
    run(screen, session, what).unwrap_or_else(|failure| refused(screen, &failure))
}

/// Tells a failure, with the exit code that leaves the command's own ones alone.
pub(crate) fn refused(screen: &mut Screen, failure: &Failure) -> u8 {
    match screen.failure(failure) {
        USAGE => USAGE,
        _ => OURS,
    }
}

fn run(screen: &mut Screen, session: &Session, what: &Exec) -> Result<u8, Failure> {
    let wish = wish::of_exec(session, what)?;
    let said = CommandWish {
        argv: what.argv.clone(),
        shell: what.shell.clone(),
        cwd: what.cwd.as_deref().map(wish::inside).transpose()?,
        ..CommandWish::default()
    };
    if session.asks_a_server() {
        let correlation = wish.correlation.clone();
        let wish = ExecWish { target: Target::Fresh(Box::new(wish)), command: said, correlation };
        return inside::run(screen, session, what.streams, wish);
    }
    let correlation = match &wish.correlation {
        Some(correlation) => correlation.clone(),
        None => new_correlation()?,
    };
    let settings = &session.loaded.settings.sandbox;
    let roots = MountRoots::open(&settings.mounts);
    let rules = Rules { settings, own: settings.own.clone(), roots };
    let resolved = resolve(&wish, &rules, Origin::Typed, None, &correlation)?;
    let (console, said) = Console::open(what.streams, screen.wants_json(), said)?;
    let command = said.command().map_err(Refusal::from)?;
    let all = backends::of(session)?;
    let data = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
    at_desk(session, &NO_CELLS, async |desk| {
        let mut signals = console.listen()?;
        let backend = resolved.pick(&all).await?;
        let intent = ExecIntent::of(resolved.spec(), &command, &backend, Some(correlation.clone()))?;
        ask(desk, Action::ExecBegins(Box::new(intent.clone()))).await?;
        let once = Once {
            resolved: &resolved,
            backend,
            command: command.clone(),
            correlation,
            takes: what.commit,
            data,
        };
        let (ended, warnings) = tokio::select! {
            ran = once.run(&console, screen.wants_json(), screen.is_quiet()) => ran,
            signal = signals.next() => (Err(interrupted(signal)), Vec::new()),
        };
        // Nothing of it is left from here on, whatever came of it.
        for backend in all.all() {
            backend.close().await;
        }
        ask(desk, Action::ExecEnded(Box::new(ExecOutcome::of(intent, &ended)))).await?;
        console.restore();
        if let Some(signal) = signals.last() {
            return Ok(128_u8.saturating_add(signal));
        }
        Ok(tell(screen, &ended?, &warnings, Some(&resolved.spec().limits), console.is_gone()))
    })
}

/// A command in a sandbox of its own.
struct Once<'a> {
    resolved: &'a Resolved,
    backend: Arc<dyn Backend>,
    command: Command,
    correlation: CorrelationId,
    /// Whether what it changes under overlays is taken, if it ends well.
    takes: bool,
    data: &'a Path,
}

impl Once<'_> {
    async fn run(
        self,
        console: &Console,
        keeps: bool,
        is_quiet: bool,
    ) -> (Result<ExecResult, Refusal>, Vec<String>) {
        let since = Moment::now();
        let sandbox = match self.resolved.create(self.backend.as_ref()).await {
            Ok(sandbox) => sandbox,
            Err(refusal) => return (Err(refusal), Vec::new()),
        };
        let mut warnings = sandbox.warnings().to_vec();
        if !keeps && !is_quiet {
            for line in &warnings {
                to_stderr(&[warning("warning: "), plain(line)]);
            }
        }
        let keep = if keeps { Keep::Captured } else { Keep::Streamed };
        let ran = attend(sandbox.as_ref(), self.command, console, keep, self.correlation).await;
        let ended_well = ran.as_ref().is_ok_and(|result| result.exit.status() == 0);
        let changed = after_one(self.data, sandbox.as_ref(), since, self.takes, ended_well).await;
        let ended = Sandbox::terminate(sandbox.as_ref()).await;
        let ran = ran.map_err(Refusal::from).and_then(|result| ended.map(|()| result).map_err(Refusal::from));
        let changed = match changed {
            Ok(changed) => changed,
            Err(refusal) => return (ran.and(Err(refusal)), warnings),
        };
        if !keeps && !is_quiet {
            for line in &changed {
                to_stderr(&[warning("note: "), plain(line)]);
            }
        }
        warnings.extend(changed);
        (ran, warnings)
    }
}

/// How a command ended that a signal to this program ended.
pub(crate) fn interrupted(signal: u8) -> Refusal {
    let message = format!("signal {signal} ended this program, and with it the command");
    Refusal::new(ErrorCode::Cancelled, message)
}
