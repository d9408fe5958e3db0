//! `bailiwick sandbox exec` and `shell`: a command in a sandbox that is kept, talked with over the owner's socket or by a server. Whoever
//! goes away ends the command, and never the sandbox.

use std::sync::Arc;

use bailiwick_core::sandboxes::{CommandWish, ExecWish, Executed, Target};
use bailiwick_core::{Action, Caller, Deaf, Refusal, Reply};
use bailiwick_types::CorrelationId;

use crate::commands::exec::console::Console;
use crate::commands::exec::told::tell;
use crate::commands::exec::{NO_CELLS, interrupted, refused, wish};
use crate::commands::secret::terminal;
use crate::desk::{Person, at_desk, caller};
use crate::failure::Failure;
use crate::render::Screen;
use crate::resolved::Session;
use crate::typed::sandbox::{ExecIn, ShellIn, StreamFlags};

/// `bailiwick sandbox exec`
pub(super) fn exec(screen: &mut Screen, session: &Session, what: &ExecIn) -> u8 {
    let ran = exec_wish(what).and_then(|wish| run(screen, session, what.streams, wish));
    ran.unwrap_or_else(|failure| refused(screen, &failure))
}

/// `bailiwick sandbox shell`
pub(super) fn shell(screen: &mut Screen, session: &Session, what: &ShellIn) -> u8 {
    let ran = shell_wish(what)
        .and_then(|wish| run(screen, session, StreamFlags { interactive: true, tty: true }, wish));
    ran.unwrap_or_else(|failure| refused(screen, &failure))
}

fn exec_wish(what: &ExecIn) -> Result<ExecWish, Failure> {
    let ExecIn { sandbox, streams: _, env, cwd, timeout, correlation, shell, argv } = what;
    Ok(ExecWish {
        target: Target::Kept(sandbox.clone()),
        command: CommandWish {
            argv: argv.clone(),
            shell: shell.clone(),
            cwd: cwd.as_deref().map(wish::inside).transpose()?,
            env: wish::variables(env)?,
            timeout: timeout.clone(),
            ..CommandWish::default()
        },
        correlation: correlation.as_deref().map(CorrelationId::parse).transpose()?,
    })
}

fn shell_wish(ShellIn { sandbox, argv }: &ShellIn) -> Result<ExecWish, Failure> {
    if !terminal::is_there() {
        return Err(Failure::Argument {
            message: "a shell needs a terminal, and stdin is none".to_owned(),
            hint: "run a command instead: bailiwick sandbox exec ID -- COMMAND".to_owned(),
        });
    }
    let argv = if argv.is_empty() { vec!["/bin/sh".to_owned()] } else { argv.clone() };
    let command = CommandWish { argv, ..CommandWish::default() };
    Ok(ExecWish { target: Target::Kept(sandbox.clone()), command, correlation: None })
}

/// Runs a command where the session says, with the streams of this program.
pub(crate) fn run(
    screen: &mut Screen,
    session: &Session,
    streams: StreamFlags,
    mut wish: ExecWish,
) -> Result<u8, Failure> {
    // What is no command is refused before anybody is asked.
    wish.command.command().map_err(Refusal::from)?;
    let (console, command) = Console::open(streams, screen.wants_json(), wish.command)?;
    wish.command = command;
    let console = Arc::new(console);
    at_desk(session, &NO_CELLS, async |desk| {
        let mut signals = console.listen()?;
        let caller = Caller { talk: console.clone(), ..caller(Person::Nobody, Arc::new(Deaf)) };
        let ran = tokio::select! {
            ran = desk.perform(caller, Action::SandboxExec(Box::new(wish))) => ran,
            signal = signals.next() => Err(interrupted(signal)),
        };
        console.restore();
        if let Some(signal) = signals.last() {
            return Ok(128_u8.saturating_add(signal));
        }
        let Reply::Executed(executed) = ran? else { return Err(Failure::StrangeReply("a command's end")) };
        let Executed { result, warnings } = *executed;
        Ok(tell(screen, &result, &warnings, None, console.is_gone()))
    })
}
