//! Where a process of ours asks for actions: it owns the data folder itself, or talks to the process that does.
//!
//! Which of the two is found out when the desk is opened, and again when an owner is lost: then this process asks the
//! next one, or becomes it. What an owner took is never asked for twice, unless it changes nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_config::{SandboxSettings, Settings};
use bailiwick_policy::Baseline;
use bailiwick_runtime::Builder;
use bailiwick_secrets::Fallback;
use bailiwick_tool::Hash;
use bailiwick_types::ErrorCode;
use tokio::time::{Instant, timeout_at};

use crate::owner::{
    BoxFuture, Boxed, Folder, House, Link, Lost, Nature, NoConnection, Opens, Ownership, Performs, Server,
    is_governed,
};
use crate::{Action, Caller, Core, Mute, Refusal, Reply};

/// How long an owner is looked for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long after the first look the second is; each later one is twice as late.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
/// The longest that is waited between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// How many owners may be lost under one action.
const MOST_OWNERS: u32 = 8;

/// What a desk is opened with.
#[derive(Debug)]
pub struct Opening {
    /// The data folder.
    pub data: PathBuf,
    /// The config folder, which no tool may read.
    pub config: PathBuf,
    /// The operator's settings.
    pub settings: Settings,
    /// Variables that may stand in for secrets.
    pub fallback: Fallback,
    /// How cells are made, when the first is needed.
    pub cells: Builder,
    /// The backends that commands may run on.
    pub backends: bailiwick_sandbox::Backends,
    /// Whether this process stays, so that somebody may come and answer.
    pub presence: Presence,
}

/// For how long a process owns a data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// For one command: who answers is there already, or nobody is.
    Brief,
    /// Until it is told to end, for the commands of the same user; nobody comes to answer.
    Holding,
    /// Until it is told to end: a question waits for whoever may come.
    Serving,
}

impl Opens for Opening {
    fn data(&self) -> &Path {
        &self.data
    }

    fn under(&self) -> Option<String> {
        Some(under(&self.settings))
    }

    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async move {
            let core = Core::open_owned(*self, Some(ownership)).await?;
            Ok(Arc::new(core) as Arc<dyn Performs>)
        })
    }
}

/// A hash of what the operator says about what may be done and who is asked.
pub(crate) fn under(settings: &Settings) -> String {
    let said = said(&settings.baseline, &settings.sandbox);
    Hash::of_bytes(format!("{said} {:?} {:?}", settings.approvals, settings.sandbox).as_bytes()).to_string()
}

/// The operator's side of policy as text, that of command sandboxes included: what a tool may do follows from both. Where a
/// server listens is left out: that is kept from every tool in any case, and whoever asks the server for something need not
/// know its port.
pub(crate) fn said(baseline: &Baseline, sandbox: &SandboxSettings) -> String {
    let Baseline { layer, profiles, limits, ceilings, never, reserved, own_listeners: _, read_roots } =
        baseline;
    let SandboxSettings { floor, preset, require, accept, network, ceilings: most, .. } = sandbox;
    let commands = (floor, preset, require, accept, network, most);
    format!("{:?}", (layer, profiles, limits, ceilings, never, reserved, read_roots, commands))
}

impl Performs for Core {
    fn perform(&self, caller: Caller, action: Action) -> Boxed<Result<Reply, Refusal>> {
        let core = self.clone();
        Box::pin(async move { Self::perform(&core, caller, action).await })
    }

    fn troubles(&self) -> Vec<String> {
        Self::troubles(self)
    }

    fn core(&self) -> Option<Core> {
        Some(self.clone())
    }

    fn ending(&self) {
        self.end_watching();
        self.end_questions_of_server();
    }

    fn close(&self) -> Boxed<Result<(), Refusal>> {
        let core = self.clone();
        Box::pin(async move { Self::close(&core).await })
    }
}

/// A place to ask for actions.
#[derive(Debug)]
pub struct Desk(Arc<Inner>);

struct Inner {
    folder: Folder,
    /// The settings that this process was given, by their hash.
    under: Option<String>,
    place: Mutex<Place>,
    /// What becoming the owner takes; held by whoever looks for a place.
    can: tokio::sync::Mutex<Can>,
}

/// Whether this process can become the owner.
enum Can {
    /// So it is done, once.
    Own(Box<dyn Opens>),
    /// It could not when it tried, so it stays a client.
    Not(Refusal),
}

/// Where actions go.
#[derive(Debug)]
enum Place {
    /// Nowhere yet.
    Unknown,
    Owner(Server),
    Client(Arc<Link>),
    Closed,
}

/// Where one action goes.
enum Way {
    Here(House),
    There(Arc<Link>),
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("folder", &self.folder)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Desk {
    /// Owns the data folder, or finds who does.
    pub fn open(opens: impl Opens) -> Boxed<Result<Self, Refusal>> {
        Self::open_boxed(Box::new(opens))
    }

    fn open_boxed(opens: Box<dyn Opens>) -> Boxed<Result<Self, Refusal>> {
        Box::pin(async {
            let folder = Folder::hold(opens.data())?;
            let under = opens.under();
            let can = tokio::sync::Mutex::new(Can::Own(opens));
            let desk = Self(Arc::new(Inner { folder, under, place: Mutex::new(Place::Unknown), can }));
            desk.way().await?;
            Ok(desk)
        })
    }

    /// Whether this process owns the data folder.
    pub fn is_owner(&self) -> bool {
        matches!(*self.0.place(), Place::Owner(_))
    }

    /// The process that owns the data folder, as far as it says so.
    pub fn owner(&self) -> Option<u32> {
        self.0.folder.owner()
    }

    /// The core of the data folder, where this process owns it: a server asks it whose key was shown to it.
    pub fn core(&self) -> Option<Core> {
        match &*self.0.place() {
            Place::Owner(server) => server.house().core(),
            Place::Unknown | Place::Client(_) | Place::Closed => None,
        }
    }

    /// Performs an action. Dropping the future ends the action, unless it writes and has begun.
    pub fn perform(&self, caller: Caller, action: Action) -> BoxFuture<'_, Result<Reply, Refusal>> {
        Box::pin(self.perform_where_it_is_owned(caller, action))
    }

    async fn perform_where_it_is_owned(&self, caller: Caller, action: Action) -> Result<Reply, Refusal> {
        let is_repeatable = Nature::of(&action) == Nature::Reads;
        for _ in 0..MOST_OWNERS {
            let link = match self.way().await? {
                Way::There(link) => link,
                Way::Here(house) => {
                    let busy = || Refusal::new(ErrorCode::Busy, "too many actions are being performed");
                    let entered = house.enter().ok_or_else(busy)?;
                    return house.begin(entered, caller, action).end().await;
                }
            };
            let agreed = match self.0.agrees(&link, &caller, &action).await {
                Ok(()) => link.ask(&caller, &action).await,
                Err(lost) => Err(lost),
            };
            match agreed {
                Ok(result) => return result,
                Err(Lost::Refused(refusal)) => return Err(refusal),
                Err(Lost::NotBegun) => {}
                Err(Lost::Begun(None)) if is_repeatable => {}
                Err(Lost::Begun(why)) => return Err(perhaps_done(why)),
            }
        }
        let message =
            format!("{MOST_OWNERS} owners of {} ended one after another", self.0.folder.path().display());
        Err(Refusal::new(ErrorCode::Unavailable, message).with_hint("try again"))
    }

    /// Gives the data folder back: what others asked for is finished first. What a person should know of comes with it.
    ///
    /// Whoever still asks afterwards is refused.
    pub async fn close(&self) -> Result<Vec<String>, Refusal> {
        // Whoever still looks for a place is waited for.
        let _can = self.0.can.lock().await;
        let place = std::mem::replace(&mut *self.0.place(), Place::Closed);
        match place {
            Place::Owner(server) => server.close().await,
            Place::Unknown | Place::Client(_) | Place::Closed => Ok(Vec::new()),
        }
    }

    /// Where an action goes now. Looking goes on when the future is dropped: an opening that began is not undone.
    async fn way(&self) -> Result<Way, Refusal> {
        if let Some(way) = self.0.known()? {
            return Ok(way);
        }
        let inner = self.0.clone();
        let looked = tokio::spawn(async move { inner.look().await });
        looked.await.unwrap_or_else(|_| {
            Err(Refusal::new(
                ErrorCode::Internal,
                "a fault of this program ended the opening of the data folder",
            ))
        })
    }
}

impl Inner {
    fn place(&self) -> std::sync::MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where an action goes, unless that has to be looked for.
    fn known(&self) -> Result<Option<Way>, Refusal> {
        match &*self.place() {
            Place::Owner(server) => Ok(Some(Way::Here(server.house().clone()))),
            Place::Client(link) if link.is_alive() => Ok(Some(Way::There(link.clone()))),
            Place::Unknown | Place::Client(_) => Ok(None),
            Place::Closed => Err(Refusal::new(ErrorCode::Unavailable, "the data folder was given back")),
        }
    }

    /// Looks for the owner, or becomes it.
    async fn look(&self) -> Result<Way, Refusal> {
        let mut can = self.can.lock().await;
        let until = Instant::now() + PATIENCE;
        let mut pause = FIRST_PAUSE;
        loop {
            // Somebody else may have looked while this waited for its turn.
            if let Some(way) = self.known()? {
                return Ok(way);
            }
            if let Some(ownership) = self.folder.lock()? {
                return self.own(&mut can, ownership).await;
            }
            match timeout_at(until, Link::connect(&self.folder)).await {
                Ok(Ok(link)) => *self.place() = Place::Client(Arc::new(link)),
                Ok(Err(NoConnection::Refused(refusal))) => return Err(refusal),
                // The owner is starting or ending.
                Ok(Err(NoConnection::Nobody(error))) => {
                    let next = Instant::now() + pause;
                    if next > until {
                        return Err(self.silent(&error.to_string()));
                    }
                    tokio::time::sleep_until(next).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(_) => return Err(self.silent("it does not greet")),
            }
        }
    }

    /// Opens the folder as its owner.
    async fn own(&self, can: &mut Can, ownership: Ownership) -> Result<Way, Refusal> {
        let fault = Refusal::new(ErrorCode::Internal, "a fault of this program ended the opening before");
        let opened = match std::mem::replace(can, Can::Not(fault)) {
            Can::Own(opens) => opens.open(ownership.clone()).await,
            Can::Not(refusal) => Err(refusal),
        };
        match opened.and_then(|performs| Server::start(performs, ownership)) {
            Ok(server) => {
                let way = Way::Here(server.house().clone());
                *self.place() = Place::Owner(server);
                Ok(way)
            }
            Err(refusal) => {
                *can = Can::Not(refusal.clone());
                Err(refusal)
            }
        }
    }

    /// Whether an owner works under the settings that were given here: what it would do under others is not what was
    /// asked for, and may be more.
    async fn agrees(&self, link: &Link, caller: &Caller, action: &Action) -> Result<(), Lost> {
        let Some(ours) = self.under.as_ref().filter(|_| is_governed(action)) else { return Ok(()) };
        // What they say is for the action itself.
        let caller = Caller { talk: Arc::new(Mute), ..caller.clone() };
        match link.ask(&caller, &Action::Under).await {
            Ok(Ok(Reply::Under(theirs))) if theirs == *ours => Ok(()),
            Ok(Err(refusal)) => Err(Lost::Refused(refusal)),
            // Nothing that changes anything has begun.
            Err(Lost::Begun(None)) => Err(Lost::NotBegun),
            Err(lost) => Err(lost),
            Ok(Ok(_)) => {
                let who = self
                    .folder
                    .owner()
                    .map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                let path = self.folder.path().display();
                let message = format!(
                    "{who} owns {path} and works under other settings of the operator than this command"
                );
                let hint = "end that process, or ask with its settings: --set, BAILIWICK_* and a bailiwick.toml \
                            in the working folder count";
                Err(Lost::Refused(Refusal::new(ErrorCode::Conflict, message).with_hint(hint)))
            }
        }
    }

    fn silent(&self, why: &str) -> Refusal {
        let path = self.folder.path().display();
        let (who, hint) = match self.folder.owner() {
            Some(pid) => (format!("process {pid}"), format!("look at process {pid}, and end it if it hangs")),
            None => ("another process".to_owned(), "try again".to_owned()),
        };
        let seconds = PATIENCE.as_secs();
        let message = format!("{path} is owned by {who}, which did not answer for {seconds} seconds: {why}");
        Refusal::new(ErrorCode::Unavailable, message).with_hint(hint)
    }
}

/// What is said when an owner was lost that had taken the action.
fn perhaps_done(why: Option<Refusal>) -> Refusal {
    let message = match why {
        None => {
            "the process that owns the data folder ended while it worked on this; whether it was done is on \
                 the record"
                .to_owned()
        }
        Some(refusal) => format!("{}; whether this was done is on the record", refusal.message),
    };
    Refusal::new(ErrorCode::Unavailable, message).with_hint("bailiwick audit tail")
}
