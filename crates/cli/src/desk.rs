//! The desk that commands ask for actions at, and who asks: this program, its console, and the person before it.
//!
//! Opened for one command and closed behind it, whatever came of it.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick::Breadth;
use bailiwick_core::{
    Action, Actor, Answer, Approver, Caller, Deaf, Desk, Event, Listener, NoApprover, Opening, Presence,
    Question, Refusal, Reply,
};

use crate::cells::{self, block_on};
use crate::commands::secret;
use crate::failure::Failure;
use crate::render::{Screen, plain, question, report, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::CellFlags;

/// As the record names this program.
const CLIENT: &str = "cli";

/// What a desk of this session is opened with; `parked` cells are kept ready ahead of need.
fn opening(session: &Session, flags: &CellFlags, parked: usize) -> Result<Opening, Failure> {
    let data = session.loaded.data_folder.clone().ok_or(Failure::NoDataFolder)?;
    let config = session.environment.config_folder().unwrap_or_else(|| data.join("config"));
    let settings = session.loaded.settings.clone();
    let cells = cells::builder(flags, Breadth::Ordinary, Some(&settings.baseline)).parked(parked);
    let fallback = secret::fallback(session)?;
    Ok(Opening { data, config, settings, fallback, cells, presence: Presence::Brief })
}

/// Opens a desk for a job, and closes it behind the job.
pub(crate) fn at_desk<T>(
    session: &Session,
    flags: &CellFlags,
    job: impl AsyncFnOnce(&Desk) -> Result<T, Failure>,
) -> Result<T, Failure> {
    at_desk_with(session, flags, 0, job)
}

/// The same, with cells kept ready.
pub(crate) fn at_desk_with<T>(
    session: &Session,
    flags: &CellFlags,
    parked: usize,
    job: impl AsyncFnOnce(&Desk) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let opening = opening(session, flags, parked)?;
    block_on(async {
        let desk = Desk::open(opening).await?;
        let done = job(&desk).await;
        let closed = desk.close().await;
        let done = done?;
        for trouble in closed? {
            to_stderr(&[warning("warning: "), plain(&trouble)]);
        }
        Ok(done)
    })
}

/// Asks for one action, as somebody whom nobody answers for.
pub(crate) async fn ask(desk: &Desk, action: Action) -> Result<Reply, Refusal> {
    desk.perform(caller(Person::Nobody, Arc::new(Deaf)), action).await
}

/// This program, with who answers for it and who hears.
pub(crate) fn caller(person: Person, listener: Arc<dyn Listener>) -> Caller {
    let approver: Arc<dyn Approver> = match person {
        Person::AtTheTerminal => Arc::new(AtTheTerminal),
        Person::SaidYesBefore => Arc::new(SaidYesBefore),
        Person::Nobody => Arc::new(NoApprover),
    };
    Caller { approver, listener, ..Caller::alone(Actor { key: None, client: CLIENT.to_owned() }) }
}

/// Who answers when a call waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    /// Whoever sits there.
    AtTheTerminal,
    /// Whoever typed `--yes`.
    SaidYesBefore,
    /// There is nobody.
    Nobody,
}

impl Person {
    /// Who it is, by the flag and by whether stdin is a terminal.
    pub(crate) fn of(yes: bool) -> Self {
        match (yes, secret::terminal::is_there()) {
            (true, _) => Self::SaidYesBefore,
            (false, true) => Self::AtTheTerminal,
            (false, false) => Self::Nobody,
        }
    }
}

/// A person who said yes when they typed the command.
struct SaidYesBefore;

impl Approver for SaidYesBefore {
    fn ask(&self, asked: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        question::tell(&asked, Some("yes (--yes)"));
        Box::pin(std::future::ready(Answer::Yes { by: "flag --yes".to_owned() }))
    }
}

/// The person at the terminal.
struct AtTheTerminal;

impl Approver for AtTheTerminal {
    fn ask(&self, asked: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        Box::pin(async move {
            question::tell(&asked, None);
            let answer = tokio::task::spawn_blocking(|| {
                secret::terminal::agrees_now(&Screen::new(false, false), "allow it?")
            });
            let by = || "terminal".to_owned();
            match answer.await {
                Ok(Ok(true)) => Answer::Yes { by: by() },
                Ok(Ok(false)) => Answer::No { by: by() },
                // A terminal that went away is nobody.
                Ok(Err(_)) | Err(_) => Answer::Nobody,
            }
        })
    }
}

/// Shows console lines as they come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Console;

impl Listener for Console {
    fn hear(&self, event: Event) {
        if let Event::Log(line) = event {
            report::console(&line);
        }
    }
}
