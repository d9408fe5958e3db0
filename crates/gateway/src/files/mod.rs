//! `safety.fs` on the host: files beneath held folders.
//!
//! One [`Files`] serves one call. Every operation is decided by policy first, path by path, then done by a bounded
//! number of blocking jobs. This must never open a path by name from the host's root on a guest's behalf, never follow
//! a link in a change, and never show a guest a path of the host.
//!
//! Start reading at [`Files::serve`], then `place` (where a granted path leads) and `write` (how a file is replaced).

mod answer;
mod ledger;
mod lines;
mod names;
mod place;
mod read;
mod reason;
mod remove;
mod root;
mod seek;
mod walk;
mod write;

#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bailiwick_policy::{
    Capability, Checked, Decision, EffectivePolicy, FileAccess, FileOp, FileQuestion, GuestPath,
};
use bailiwick_sys::beneath::Taken;
use bailiwick_types::{ErrorCode, FileAnswer, FileRequest, Refused};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use self::ledger::Ledger;
use self::place::Spot;
use self::reason::Fault;
use self::remove::Moved;
use self::root::ReadRoot;
use self::write::Desk;
use crate::person::{Answered, Person};

pub use self::ledger::{Quota, kept_free};
pub use self::reason::FileReason;
pub use self::root::{RootError, WORKSPACES, check_root};

/// How many blocking jobs one call may have at a time.
const JOBS: usize = 4;

/// What the files of a call are made from.
pub struct Opening<'a> {
    /// The workspace's folder; made if it is not there.
    pub workspace: &'a Path,
    /// Our data folder, which no read root may hold or lie in.
    pub data: &'a Path,
    /// Our config folder, likewise.
    pub config: &'a Path,
    /// What the call may do.
    pub policy: Arc<EffectivePolicy>,
    /// What a person said yes to in this call.
    pub answered: Arc<Answered>,
    /// Who is asked.
    pub person: Arc<dyn Person>,
    /// How much the workspace may hold.
    pub quota: Quota,
}

/// The files of one call.
pub struct Files {
    workspace: Arc<OwnedFd>,
    roots: Vec<ReadRoot>,
    policy: RwLock<Arc<EffectivePolicy>>,
    answered: Arc<Answered>,
    person: Arc<dyn Person>,
    quota: Quota,
    ledger: Ledger,
    jobs: Arc<Semaphore>,
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files")
            .field("roots", &self.roots.len())
            .field("quota", &self.quota)
            .finish_non_exhaustive()
    }
}

/// The end of a call, as its jobs notice it.
#[derive(Debug, Clone, Default)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn check(&self) -> Result<(), Fault> {
        if self.0.load(Ordering::Relaxed) { Err(FileReason::Stopped.into()) } else { Ok(()) }
    }
}

/// Ends the job when nobody waits for it any more.
struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Why an operation ended: the world's no, or a refusal that is complete.
enum Ended {
    Fault(Fault),
    Refused(Box<Refused>),
}

impl<T: Into<Fault>> From<T> for Ended {
    fn from(fault: T) -> Self {
        Self::Fault(fault.into())
    }
}

impl Files {
    /// Opens the workspace and the operator's read roots. It blocks, for as long as opening a
    /// few folders takes.
    pub fn open(opening: Opening<'_>) -> Result<Self, RootError> {
        let Opening { workspace: folder, data, config, policy, answered, person, quota } = opening;
        let workspace = Arc::new(root::open_workspace(folder)?);
        let ledger =
            ledger::of(&workspace).map_err(|errno| RootError::Open { root: folder.to_owned(), errno })?;
        // Also where reading is not granted yet: another policy may grant it in the course of the call.
        let roots =
            policy.baseline().read_roots.iter().map(|root| ReadRoot::open(root, data, config)).collect();
        let jobs = Arc::new(Semaphore::new(JOBS));
        Ok(Self { workspace, roots, policy: RwLock::new(policy), answered, person, quota, ledger, jobs })
    }

    /// Puts another policy in the place of the one in force, for what is asked from now on.
    pub fn replace_policy(&self, policy: Arc<EffectivePolicy>) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    fn policy(&self) -> Arc<EffectivePolicy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does what a guest asks, if policy allows it.
    pub async fn serve(&self, request: FileRequest) -> Result<FileAnswer, Refused> {
        let (op, path) = named(&request);
        metrics::counter!("bailiwick_files_total", "op" => op).increment(1);
        let root = if path.starts_with('/') { "read-root" } else { "workspace" };
        let span = tracing::info_span!("file", op, root);
        let path = path.to_owned();
        let served = self.act(request).instrument(span).await;
        served.map_err(|ended| {
            let refused = match ended {
                Ended::Fault(fault) => fault.refused(op, &path),
                Ended::Refused(refused) => *refused,
            };
            let reason = refused.reason.to_string();
            metrics::counter!("bailiwick_files_refused_total", "reason" => reason).increment(1);
            refused
        })
    }

    async fn act(&self, request: FileRequest) -> Result<FileAnswer, Ended> {
        use FileOp::{Delete, Read, Write};
        use FileRequest as Asked;
        match request {
            Asked::ReadText { path } => {
                self.reading(&path, |spot, stop| read::text(spot, stop).map(FileAnswer::Text)).await
            }
            Asked::ReadBytes { path, offset, length } => {
                self.reading(&path, move |spot, stop| read::bytes(spot, offset, length, stop)).await
            }
            Asked::List { path, recursive } => {
                self.reading(&path, move |spot, stop| read::list(spot, recursive, stop)).await
            }
            Asked::Exists { path } => self.reading(&path, |spot, _| read::exists(spot)).await,
            Asked::Stat { path } => self.reading(&path, |spot, _| read::stat(spot)).await,
            Asked::LineCount { path } => {
                self.reading(&path, |spot, stop| lines::count(&read::text(spot, stop)?)).await
            }
            Asked::Slice { path, from, to } => {
                self.reading(&path, move |spot, stop| lines::slice(&read::text(spot, stop)?, from, to)).await
            }
            Asked::Grep { path, pattern, how } => {
                let job =
                    move |spot: &Spot, stop: &Stop| seek::grep(&read::text(spot, stop)?, &pattern, how, stop);
                self.reading(&path, job).await
            }
            Asked::Find { path, glob, kind } => {
                self.reading(&path, move |spot, stop| seek::find(spot, &glob, kind.as_deref(), stop)).await
            }
            Asked::Search { path, pattern, glob, how } => {
                let job =
                    move |spot: &Spot, stop: &Stop| seek::search(spot, &pattern, glob.as_deref(), how, stop);
                self.reading(&path, job).await
            }
            Asked::Cut { path, delimiter, fields } => {
                let job = move |spot: &Spot, stop: &Stop| {
                    lines::cut(&read::text(spot, stop)?, &delimiter, &fields, stop)
                };
                self.reading(&path, job).await
            }
            Asked::Sort { path, numeric, reverse, unique, field } => {
                let order = lines::Order { numeric, reverse, unique, field };
                self.reading(&path, move |spot, stop| lines::sort(&read::text(spot, stop)?, &order, stop))
                    .await
            }
            Asked::Workspace => self.workspace().await,
            Asked::Roots => self.roots(),
            Asked::Write { path, content } => {
                self.changing(Write, &path, move |desk, spot| write::put(desk, spot, &content.0)).await
            }
            Asked::Append { path, content } => {
                self.changing(Write, &path, move |desk, spot| write::append(desk, spot, &content.0)).await
            }
            Asked::Edit { path, old, new, all } => {
                self.changing(Write, &path, move |desk, spot| write::edit(desk, spot, &old, &new, all)).await
            }
            Asked::Copy { from, to } => {
                let from = self.spot(Read, &from).await?;
                let job = move |desk: &mut Desk, to: &Spot| {
                    let content = from.read(&desk.stop)?;
                    write::put(desk, to, &content).map_err(|fault| fault.at(to.shown()))
                };
                self.changing(Write, &to, job).await
            }
            Asked::MakeDir { path } => self.changing(Write, &path, write::make_folder).await,
            Asked::Move { from, to } => self.relocate(&from, &to).await,
            Asked::Delete { path } => self.changing(Delete, &path, remove::file).await,
            Asked::DeleteDir { path, recursive } => {
                self.changing(Delete, &path, move |desk, spot| remove::folder(desk, spot, recursive)).await
            }
        }
    }

    /// A move is a change of both names; where a file would go, that it may is asked too, before anything is done.
    async fn relocate(&self, from: &str, to: &str) -> Result<FileAnswer, Ended> {
        let (old, new) = (self.spot(FileOp::Write, from).await?, self.spot(FileOp::Write, to).await?);
        let (old, new) = (Arc::new(old), Arc::new(new));
        let (first_old, first_new) = (Arc::clone(&old), Arc::clone(&new));
        let moved =
            self.change(move |desk| remove::rename(desk, &first_old, &first_new, Taken::Refuse)).await?;
        if matches!(moved, Moved::OntoFile) {
            let _granted = self.granted(FileOp::Delete, to).await?;
            self.change(move |desk| remove::rename(desk, &old, &new, Taken::Replace)).await?;
        }
        Ok(answer::nothing())
    }

    /// Asks policy, and a person where policy wants one asked.
    async fn granted(
        &self,
        op: FileOp,
        path: &str,
    ) -> Result<(Checked<FileAccess>, Arc<EffectivePolicy>), Ended> {
        let question = FileQuestion { op, path };
        let refused = |refused| Ended::Refused(Box::new(refused));
        let policy = self.policy();
        match policy.decide(&question, self.answered.answers()) {
            Decision::Allow(granted) => return Ok((granted, policy)),
            Decision::Deny(denial) => return Err(refused(Refused::of(*denial))),
            Decision::Ask(_) => {}
        }
        let _turn = self.answered.turn().await;
        let policy = self.policy();
        match policy.decide(&question, self.answered.answers()) {
            Decision::Allow(granted) => Ok((granted, policy)),
            Decision::Deny(denial) => Err(refused(Refused::of(*denial))),
            Decision::Ask(pending) => {
                let capability = op.capability().denial_name();
                let effect = bailiwick_policy::Question::asked(&question);
                let person = &*self.person;
                let granted =
                    self.answered.ask(person, pending, ErrorCode::FsDenied, capability, effect).await;
                Ok((granted.map_err(refused)?, policy))
            }
        }
    }

    async fn spot(&self, op: FileOp, path: &str) -> Result<Spot, Ended> {
        let (granted, policy) = self.granted(op, path).await?;
        Spot::of(&granted, policy.base_path(), &self.workspace, &self.roots)
            .map_err(|fault| Ended::Fault(fault.at(path)))
    }

    async fn reading(
        &self,
        path: &str,
        job: impl FnOnce(&Spot, &Stop) -> Result<FileAnswer, Fault> + Send + 'static,
    ) -> Result<FileAnswer, Ended> {
        let spot = self.spot(FileOp::Read, path).await?;
        self.blocking(move |stop| job(&spot, &stop)).await
    }

    async fn changing(
        &self,
        op: FileOp,
        path: &str,
        job: impl FnOnce(&mut Desk, &Spot) -> Result<FileAnswer, Fault> + Send + 'static,
    ) -> Result<FileAnswer, Ended> {
        let spot = self.spot(op, path).await?;
        self.change(move |desk| job(desk, &spot)).await
    }

    /// Does a change once it is this call's turn in the workspace.
    async fn change<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Desk) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Ended> {
        let account = Arc::clone(&self.ledger).lock_owned().await;
        let (workspace, quota) = (Arc::clone(&self.workspace), self.quota);
        self.blocking(move |stop| job(&mut Desk { workspace, quota, account, stop })).await
    }

    /// Does blocking work. When nobody waits for it any more it ends at the next entry or block.
    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(Stop) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Ended> {
        let permit = Arc::clone(&self.jobs).acquire_owned().await.map_err(|_| FileReason::Stopped)?;
        let stop = Stop::default();
        let _end = StopWhenDropped(stop.clone());
        let done = tokio::task::spawn_blocking(move || {
            // Kept to the end of the work, not of the waiting.
            let _permit = permit;
            job(stop)
        });
        match done.await {
            Ok(done) => done.map_err(Ended::Fault),
            Err(error) => {
                tracing::error!(%error, "a file operation did not come to its end");
                Err(FileReason::Io.into())
            }
        }
    }

    /// Refuses where no file may be read at all. No file is touched, so nobody is asked.
    fn may_look(&self) -> Result<Arc<EffectivePolicy>, Ended> {
        let policy = self.policy();
        let start = policy.base_path().map_or_else(|| ".".to_owned(), ToString::to_string);
        let question = FileQuestion { op: FileOp::Read, path: &start };
        match policy.decide(&question, self.answered.answers()) {
            Decision::Deny(denial) => Err(Ended::Refused(Box::new(Refused::of(*denial)))),
            Decision::Allow(_) | Decision::Ask(_) => Ok(policy),
        }
    }

    async fn workspace(&self) -> Result<FileAnswer, Ended> {
        let policy = self.may_look()?;
        let base = policy.base_path().filter(|base| !base.is_absolute());
        let path = base.map_or_else(|| ".".to_owned(), ToString::to_string);
        let quota = self.quota.bytes;
        let used = self.change(Desk::usage).await?.bytes;
        Ok(answer::json(&json!({"path": path, "used": used, "quota": quota}))?)
    }

    fn roots(&self) -> Result<FileAnswer, Ended> {
        let policy = self.may_look()?;
        let base = policy.base_path();
        let within = |root: &GuestPath| match base {
            None => Some(root.to_string()),
            Some(base) if base.contains(root) => Some(root.to_string()),
            Some(base) if root.contains(base) => Some(base.to_string()),
            Some(_) => None,
        };
        let workspace = GuestPath::parse(".").ok().and_then(|root| within(&root));
        let writable = policy.allowed().contains(Capability::FsWrite);
        let workspace = workspace.map(|path| json!({"path": path, "writable": writable}));
        let opened = self.roots.iter().filter(|root| root.held.is_ok()).filter_map(|root| within(&root.path));
        let opened = opened.map(|path| json!({"path": path, "writable": false}));
        Ok(answer::json(&Value::Array(workspace.into_iter().chain(opened).collect()))?)
    }
}

/// The name of an operation, and its first path.
fn named(request: &FileRequest) -> (&'static str, &str) {
    use FileRequest as Asked;
    match request {
        Asked::ReadText { path } => ("readText", path),
        Asked::ReadBytes { path, .. } => ("readBytes", path),
        Asked::List { path, .. } => ("list", path),
        Asked::Exists { path } => ("exists", path),
        Asked::Stat { path } => ("stat", path),
        Asked::LineCount { path } => ("lineCount", path),
        Asked::Slice { path, .. } => ("slice", path),
        Asked::Grep { path, .. } => ("grep", path),
        Asked::Find { path, .. } => ("find", path),
        Asked::Search { path, .. } => ("search", path),
        Asked::Cut { path, .. } => ("cut", path),
        Asked::Sort { path, .. } => ("sort", path),
        Asked::Workspace => ("workspace", ""),
        Asked::Roots => ("roots", ""),
        Asked::Write { path, .. } => ("write", path),
        Asked::Append { path, .. } => ("appendText", path),
        Asked::Edit { path, .. } => ("editText", path),
        Asked::Copy { from, .. } => ("copy", from),
        Asked::MakeDir { path } => ("mkdir", path),
        Asked::Move { from, .. } => ("move", from),
        Asked::Delete { path } => ("delete", path),
        Asked::DeleteDir { path, .. } => ("deleteDir", path),
    }
}
