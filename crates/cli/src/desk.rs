//! Where commands ask for actions, a data folder or a server, and who asks: this program, its console, and the person
//! before it.
//!
//! Opened for one command and closed behind it, whatever came of it. A command does not know which of the two it asks.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick::{Breadth, Builder};
use bailiwick_client::Remote;
use bailiwick_core::{
    Action, Actor, Answer, Approver, BoxFuture, Caller, Deaf, Desk, Event, Listener, NoApprover, Opening,
    Opens, Origin, Presence, Question, Refusal, Reply,
};

use crate::backends;
use crate::cells::{self, block_on};
use crate::commands::secret;
use crate::failure::Failure;
use crate::render::{Screen, plain, question, report, strong, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::CellFlags;

/// As the record names this program.
const CLIENT: &str = "cli";

/// Where actions are asked for.
pub(crate) enum At {
    /// At a data folder, whose owner this process is or talks to.
    Desk(Desk),
    /// At a server.
    Remote(Box<Remote>),
}

impl At {
    /// Asks for an action.
    pub(crate) fn perform(&self, caller: Caller, action: Action) -> BoxFuture<'_, Result<Reply, Refusal>> {
        match self {
            Self::Desk(desk) => desk.perform(caller, action),
            Self::Remote(remote) => remote.perform(caller, action),
        }
    }

    /// Gives the data folder back. What a person should know of comes with it.
    async fn close(self) -> Result<Vec<String>, Refusal> {
        match self {
            Self::Desk(desk) => desk.close().await,
            Self::Remote(_) => Ok(Vec::new()),
        }
    }
}

/// What a desk of this session is opened with; `parked` cells are kept ready ahead of need.
pub(crate) fn opening(session: &Session, cells: Builder, presence: Presence) -> Result<Opening, Failure> {
    let data = session.loaded.data_folder.clone().ok_or(Failure::NoDataFolder)?;
    let config = session.environment.config_folder().unwrap_or_else(|| data.join("config"));
    let settings = session.loaded.settings.clone();
    let fallback = secret::fallback(session)?;
    // Also where nobody stays: a command tool runs in a sandbox that is gone with its call.
    let backends = backends::of(session)?;
    Ok(Opening { data, config, settings, fallback, cells, backends, presence })
}

/// Asks for a job's actions where the session says, and closes that behind the job.
pub(crate) fn at_desk<T>(
    session: &Session,
    flags: &CellFlags,
    job: impl AsyncFnOnce(&At) -> Result<T, Failure>,
) -> Result<T, Failure> {
    at_desk_for(session, flags, Presence::Brief, |opening| opening, job)
}

/// The same, for as long as this presence says; `opens` says how this process becomes the owner of a data folder.
pub(crate) fn at_desk_for<T, O: Opens>(
    session: &Session,
    flags: &CellFlags,
    presence: Presence,
    opens: impl FnOnce(Opening) -> O,
    job: impl AsyncFnOnce(&At) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let opened: Pin<Box<dyn Future<Output = Result<At, Failure>>>> = if let Some(server) = session.server()? {
        if flags.insecure_cells {
            session
                .here_only("--insecure-cells is about cells of this machine", "give it to bailiwick serve")?;
        }
        let remote = At::Remote(Box::new(Remote::new(server, Arc::new(told))));
        Box::pin(std::future::ready(Ok(remote)))
    } else {
        let cells = cells::builder(flags, Breadth::Ordinary, Some(&session.loaded.settings.baseline));
        let opened = Desk::open(opens(opening(session, cells, presence)?));
        Box::pin(async { Ok(At::Desk(opened.await?)) })
    };
    block_on(async {
        let at = opened.await?;
        let done = job(&at).await;
        let closed = close(at).await;
        let done = done?;
        closed?;
        Ok(done)
    })
}

/// Gives the data folder back, and prints what a person should know.
fn close(at: At) -> Pin<Box<dyn Future<Output = Result<(), Failure>>>> {
    Box::pin(async {
        for trouble in at.close().await? {
            to_stderr(&[warning("warning: "), plain(&trouble)]);
        }
        Ok(())
    })
}

/// What a person should know of a server beside its replies.
fn told(text: &str) {
    to_stderr(&[strong("note: "), plain(text)]);
}

/// Asks for one action, as somebody whom nobody answers for.
pub(crate) async fn ask(desk: &At, action: Action) -> Result<Reply, Refusal> {
    desk.perform(caller(Person::Nobody, Arc::new(Deaf)), action).await
}

/// This program, with who answers for it and who hears.
pub(crate) fn caller(person: Person, listener: Arc<dyn Listener>) -> Caller {
    let approver: Arc<dyn Approver> = match person {
        Person::AtTheTerminal => Arc::new(AtTheTerminal),
        Person::SaidYesBefore => Arc::new(SaidYesBefore),
        Person::Nobody => Arc::new(NoApprover),
    };
    let alone = Caller::alone(Actor { key: None, client: CLIENT.to_owned() });
    Caller { approver, listener, origin: Origin::Typed, ..alone }
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
        Box::pin(std::future::ready(Answer::Yes { by: "flag:--yes".to_owned() }))
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

/// Shows console lines as they come, and that a call waits where nobody is asked here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    person: Person,
}

impl Default for Console {
    fn default() -> Self {
        Self::beside(Person::of(false))
    }
}

impl Console {
    /// Beside this person, who sees a question anyway.
    pub(crate) const fn beside(person: Person) -> Self {
        Self { person }
    }
}

impl Listener for Console {
    fn hear(&self, event: Event) {
        match event {
            Event::Log(line) => report::console(&line),
            Event::Waiting(waiting) if self.person == Person::Nobody => question::waits(&waiting),
            _ => {}
        }
    }
}
