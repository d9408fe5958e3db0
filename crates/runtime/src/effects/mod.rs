//! The world as one call gets it: the gateway behind the trait that cells know, a recording in its place, or an
//! observer that widens as it goes.
//!
//! Nothing is decided here that policy should decide; this only puts the parts of one call together.

pub(crate) mod recording;
mod waiting;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bailiwick_cell::{Gateway, Outcome, Standstill};
use bailiwick_gateway::files::{Files, Opening, Quota};
use bailiwick_gateway::net::{Fetches, Net, SealedSet, Terms, Transport};
use bailiwick_gateway::person::{Answered, Person};
use bailiwick_policy::{
    Answers, Capability, Decision, EffectivePolicy, FetchBounds, FetchQuestion, FileOp, FileQuestion,
};
use bailiwick_redact::Redactor;
use bailiwick_types::{Answer, Denial, Effect, ErrorCode, ExecRequest, FileRequest, Refused, Usage};

use crate::redaction;
use recording::{Recorder, Recording};
use waiting::Waiting;

/// How often one effect is tried again while an observer widens: once for each thing that can be in its way.
const MOST_WIDENINGS: usize = 8;

/// Watches what code is refused, and may widen the policy for the rest of the call. For learning what a tool needs;
/// never behind a channel that an agent can reach.
pub trait Observer: Send + Sync {
    /// What is asked for, before it is decided.
    fn asked(&self, effect: &Effect);

    /// What was refused. A new policy is taken for this effect and all that follow.
    fn refused(&self, denial: &Denial) -> Option<Arc<EffectivePolicy>>;
}

/// Runs the commands of code that may: in command sandboxes, never on the host.
pub trait Executor: Send + Sync {
    /// Runs one; gives how it ended as JSON text. Policy has said yes.
    fn exec(
        &self,
        request: ExecRequest,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<String, Refused>> + Send + '_>>;
}

/// Where the files of calls are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Our data folder; workspaces lie in it.
    pub data: PathBuf,
    /// Our config folder, which no tool may read.
    pub config: PathBuf,
}

/// What the effects of one call are made from.
pub(crate) struct World {
    pub(crate) policy: Arc<EffectivePolicy>,
    pub(crate) transport: Option<Transport>,
    pub(crate) folders: Option<Folders>,
    pub(crate) workspace: String,
    pub(crate) person: Arc<dyn Person>,
    pub(crate) ask_deadline: Duration,
    pub(crate) sealed: Arc<SealedSet>,
    pub(crate) redactor: Redactor,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// Whether what would change a file is only decided about, and not done.
    pub(crate) keeps_files: bool,
    pub(crate) replay: Option<Arc<Recording>>,
    pub(crate) record: bool,
    pub(crate) executor: Option<Arc<dyn Executor>>,
}

/// The effects of one call.
pub(crate) struct Effects {
    policy: RwLock<Arc<EffectivePolicy>>,
    keeps_files: bool,
    redactor: Redactor,
    waiting: Arc<Waiting>,
    fetches: Option<Fetches>,
    files: Option<Result<Files, String>>,
    observer: Option<Arc<dyn Observer>>,
    executor: Option<Arc<dyn Executor>>,
    replay: Option<Arc<Recording>>,
    recorder: Option<Mutex<Recorder>>,
    diverged: Mutex<Option<Refused>>,
}

impl Effects {
    /// The effects of a call; none when its policy grants nothing that leaves the cell.
    pub(crate) fn of(world: World) -> Option<Self> {
        let World { policy, transport, folders, workspace, person, ask_deadline, .. } = world;
        let allows = |capability: Capability| policy.allowed().contains(capability);
        let observed = world.observer.is_some();
        let has_net = observed || allows(Capability::NetFetch);
        let has_files = observed
            || [Capability::FsRead, Capability::FsWrite, Capability::FsDelete].into_iter().any(allows);
        let has_commands = allows(Capability::ProcessExec);
        if !has_net && !has_files && !has_commands {
            return None;
        }
        let (waiting, answered) = (
            Arc::new(Waiting::new(person, ask_deadline, world.redactor.clone())),
            Arc::new(Answered::default()),
        );
        let asked = || Arc::clone(&waiting) as Arc<dyn Person>;
        let replayed = world.replay.is_some();
        let fetches = transport.filter(|_| has_net && !replayed).map(|transport| {
            let terms = Terms {
                policy: Arc::clone(&policy),
                bounds: FetchBounds::SHIPPED,
                answered: Arc::clone(&answered),
                person: asked(),
                sealed: world.sealed,
                redactor: world.redactor.clone(),
            };
            Fetches::new(transport, terms)
        });
        let files = folders.filter(|_| has_files && !replayed).map(|Folders { data, config }| {
            let opening = Opening {
                workspace: &data.join(bailiwick_gateway::files::WORKSPACES).join(&workspace),
                data: &data,
                config: &config,
                policy: Arc::clone(&policy),
                answered: Arc::clone(&answered),
                person: asked(),
                quota: Quota::default(),
            };
            Files::open(opening).map_err(|error| error.to_string())
        });
        Some(Self {
            policy: RwLock::new(policy),
            keeps_files: world.keeps_files,
            redactor: world.redactor,
            waiting,
            fetches,
            files,
            observer: world.observer,
            executor: world.executor,
            replay: world.replay,
            recorder: world.record.then(Mutex::default),
            diverged: Mutex::default(),
        })
    }

    /// Adds what requests came to.
    pub(crate) fn add_usage(&self, usage: &mut Usage) {
        if let Some(fetches) = &self.fetches {
            let made = fetches.usage();
            usage.fetches = u32::try_from(made.fetches).unwrap_or(u32::MAX);
            usage.bytes_in = made.bytes_in;
            usage.bytes_out = made.bytes_out;
        }
    }

    /// Whether the addresses connected to are the ones that were checked; nothing when no request was made.
    pub(crate) fn is_pinned(&self) -> Option<bool> {
        self.fetches.as_ref().and_then(Fetches::is_pinned)
    }

    /// Where a replay went another way than its recording.
    pub(crate) fn diverged(&self) -> Option<Refused> {
        self.diverged.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What was kept of the call.
    pub(crate) fn recorded(self) -> Option<Recorder> {
        self.recorder.map(|recorder| recorder.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn act(&self, id: u32, effect: Effect) -> Result<Answer, Refused> {
        if let Some(replay) = &self.replay {
            return self.again(replay, id, &effect);
        }
        let Some(observer) = &self.observer else { return self.attempt(effect).await };
        observer.asked(&effect);
        let mut tries = 0;
        loop {
            let refused = match self.foreseen(&effect) {
                Some(refused) => refused,
                None => match self.attempt(effect.clone()).await {
                    Err(refused) if tries < MOST_WIDENINGS && may_be_repeated(&effect) => refused,
                    result => return result,
                },
            };
            if tries >= MOST_WIDENINGS {
                return Err(refused);
            }
            let wider = match (&self.observer, &refused.denied) {
                (Some(observer), Some(denial)) => {
                    let asked = redaction::line_of_effect(&self.redactor, &denial.asked);
                    observer.refused(&Denial { asked, ..(**denial).clone() })
                }
                _ => None,
            };
            let Some(wider) = wider else { return Err(refused) };
            tries += 1;
            *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&wider);
            if let Some(fetches) = &self.fetches {
                fetches.set_policy(Arc::clone(&wider));
            }
            if let Some(Ok(files)) = &self.files {
                files.replace_policy(wider);
            }
        }
    }

    /// The refusal of a request that policy gives before anything is sent: it need not be tried to be known.
    fn foreseen(&self, effect: &Effect) -> Option<Refused> {
        let (policy, all) = (self.policy(), Answers { net: true, fs: true });
        let denied = match effect {
            Effect::Fetch(request) => {
                let question = FetchQuestion { method: &request.method, url: &request.url };
                refusal(policy.decide(&question, all))
            }
            Effect::Exec(_) => refusal(policy.decide(&Capability::ProcessExec, all)),
            Effect::File(_) => None,
        };
        denied.map(|denial| Refused::of(*denial))
    }

    async fn attempt(&self, effect: Effect) -> Result<Answer, Refused> {
        match effect {
            Effect::Fetch(request) => match &self.fetches {
                Some(fetches) => fetches.fetch(request).await.map(Answer::Fetched),
                None => Err(no_world(ErrorCode::NetFailed, "this runtime was given no network")),
            },
            Effect::File(request) if self.keeps_files && capability_of(&request) != Capability::FsRead => {
                Err(self.only_decided(&request))
            }
            Effect::File(request) => match &self.files {
                Some(Ok(files)) => files.serve(request).await.map(Answer::Filed),
                Some(Err(why)) => Err(no_world(ErrorCode::FsFailed, why)),
                None => Err(no_world(ErrorCode::FsFailed, "this runtime was given no folders")),
            },
            Effect::Exec(request) => {
                let all = Answers { net: true, fs: true };
                if let Some(denial) = refusal(self.policy().decide(&Capability::ProcessExec, all)) {
                    return Err(Refused::of(*denial));
                }
                match &self.executor {
                    Some(executor) => executor.exec(request).await.map(Answer::Executed),
                    None => {
                        Err(no_world(ErrorCode::Unavailable, "this runtime was given no command sandboxes"))
                    }
                }
            }
        }
    }

    fn policy(&self) -> Arc<EffectivePolicy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What policy says to a change of files, where none is made.
    fn only_decided(&self, request: &FileRequest) -> Refused {
        let all = Answers { net: true, fs: true };
        for question in questions_of(request) {
            if let Some(denial) = refusal(self.policy().decide(&question, all)) {
                return Refused::of(*denial);
            }
        }
        Refused::failed(
            ErrorCode::FsFailed,
            "only-observed",
            "no file is changed while a tool is only observed",
        )
        .with_hint("observe it live to let it change files")
    }

    /// What was answered when the call was recorded. Policy is asked all the same: a recording grants nothing.
    fn again(&self, replay: &Recording, id: u32, effect: &Effect) -> Result<Answer, Refused> {
        let answer = replay.answer(id, effect);
        if let Err(refused) = &answer {
            if refused.code == ErrorCode::ReplayDiverged {
                let mut diverged = self.diverged.lock().unwrap_or_else(PoisonError::into_inner);
                diverged.get_or_insert_with(|| refused.clone());
            }
            return answer;
        }
        let (policy, all) = (self.policy(), Answers { net: true, fs: true });
        let denied = match effect {
            Effect::Fetch(request) => {
                let question = FetchQuestion { method: &request.method, url: &request.url };
                refusal(policy.decide(&question, all))
            }
            Effect::File(request) => refusal(policy.decide(&capability_of(request), all)).or_else(|| {
                let questions = questions_of(request).into_iter();
                questions.map(|question| refusal(policy.decide(&question, all))).find_map(|denied| denied)
            }),
            Effect::Exec(_) => refusal(policy.decide(&Capability::ProcessExec, all)),
        };
        match denied {
            Some(denial) => Err(Refused::of(*denial)),
            None => answer,
        }
    }
}

/// What a file operation needs, by its kind.
const fn capability_of(request: &FileRequest) -> Capability {
    match request {
        FileRequest::ReadText { .. }
        | FileRequest::ReadBytes { .. }
        | FileRequest::List { .. }
        | FileRequest::Exists { .. }
        | FileRequest::Stat { .. }
        | FileRequest::LineCount { .. }
        | FileRequest::Slice { .. }
        | FileRequest::Grep { .. }
        | FileRequest::Find { .. }
        | FileRequest::Search { .. }
        | FileRequest::Cut { .. }
        | FileRequest::Sort { .. }
        | FileRequest::Workspace
        | FileRequest::Roots => Capability::FsRead,
        FileRequest::Write { .. }
        | FileRequest::Append { .. }
        | FileRequest::Edit { .. }
        | FileRequest::Copy { .. }
        | FileRequest::MakeDir { .. }
        | FileRequest::Move { .. } => Capability::FsWrite,
        FileRequest::Delete { .. } | FileRequest::DeleteDir { .. } => Capability::FsDelete,
    }
}

/// The no in a decision, if it is one.
fn refusal<T>(decision: Decision<T>) -> Option<Box<Denial>> {
    match decision {
        Decision::Deny(denial) => Some(denial),
        Decision::Allow(_) | Decision::Ask(_) => None,
    }
}

/// What a file operation asks about each path that it names.
fn questions_of(request: &FileRequest) -> Vec<FileQuestion<'_>> {
    if let FileRequest::Copy { from, to } = request {
        return vec![
            FileQuestion { op: FileOp::Read, path: from },
            FileQuestion { op: FileOp::Write, path: to },
        ];
    }
    let op = match capability_of(request) {
        Capability::FsDelete => FileOp::Delete,
        Capability::FsWrite => FileOp::Write,
        _ => FileOp::Read,
    };
    paths_of(request).into_iter().map(|path| FileQuestion { op, path }).collect()
}

/// Whether an effect that was refused on its way may be begun again: a request may have been sent in part.
fn may_be_repeated(effect: &Effect) -> bool {
    match effect {
        Effect::Fetch(request) => matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS"),
        Effect::File(_) => true,
        // It may have done something already.
        Effect::Exec(_) => false,
    }
}

/// The paths that a file operation names.
pub fn paths_of(request: &FileRequest) -> Vec<&str> {
    match request {
        FileRequest::ReadText { path }
        | FileRequest::ReadBytes { path, .. }
        | FileRequest::List { path, .. }
        | FileRequest::Exists { path }
        | FileRequest::Stat { path }
        | FileRequest::LineCount { path }
        | FileRequest::Slice { path, .. }
        | FileRequest::Grep { path, .. }
        | FileRequest::Find { path, .. }
        | FileRequest::Search { path, .. }
        | FileRequest::Cut { path, .. }
        | FileRequest::Sort { path, .. }
        | FileRequest::Write { path, .. }
        | FileRequest::Append { path, .. }
        | FileRequest::Edit { path, .. }
        | FileRequest::MakeDir { path }
        | FileRequest::Delete { path }
        | FileRequest::DeleteDir { path, .. } => vec![path],
        FileRequest::Copy { from, to } | FileRequest::Move { from, to } => vec![from, to],
        FileRequest::Workspace | FileRequest::Roots => Vec::new(),
    }
}

fn no_world(code: ErrorCode, why: &str) -> Refused {
    Refused::failed(code, "not-offered", why.to_owned())
        .with_hint("the program that runs the code decides which part of the world there is")
}

impl Gateway for Effects {
    fn serve<'a>(&'a self, id: u32, effect: Effect, standstill: &'a Standstill) -> Outcome<'a> {
        self.waiting.of(standstill);
        Box::pin(async move {
            let asked = self.recorder.is_some().then(|| effect.clone());
            let result = self.act(id, effect).await;
            if let Some((recorder, asked)) = self.recorder.as_ref().zip(asked) {
                recorder.lock().unwrap_or_else(PoisonError::into_inner).keep(id, &asked, &result);
            }
            result
        })
    }
}

/// The way to the network that calls of a runtime share.
pub(crate) fn transport(net: Option<&Arc<Net>>) -> Option<Transport> {
    net.map(|net| Transport::Real(Arc::clone(net)))
}
