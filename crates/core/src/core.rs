//! The core: performs actions. A panic in one is its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bailiwick_audit::Entry;
use bailiwick_runtime::{Folders, Tenant};
use bailiwick_store::{Durability, Options, Retention, Stamp, Store, Troubles};
use bailiwick_tool::Hash;
use bailiwick_types::{ErrorCode, Wallpart};
use tokio::sync::OnceCell;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::approvals::Approvals;
use crate::budget::{self, Budget};
use crate::catalogue::Pages;
use crate::desk::{Opening, Presence, said, under};
use crate::happenings::Happenings;
use crate::images::Images;
use crate::journal::told;
use crate::keys::Ring;
use crate::moment::Ahead;
use crate::owner::BoxFuture;
use crate::owner::Ownership;
use crate::parsed::Shelf;
use crate::pipeline::Warm;
use crate::sandboxes::Sandboxes;
use crate::webhook::Posts;
use crate::world::World;
use crate::{
    Action, Actor, Caller, Refusal, Reply, approvals, authority, catalogue, code, happenings, images,
    journal, keys, pass, pipeline, sandboxes,
};

/// Performs actions on one data folder. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    pub(crate) inner: Arc<Inner>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("data", self.inner.world.data()).finish_non_exhaustive()
    }
}

/// What all actions share.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) world: World,
    pub(crate) shelf: Shelf,
    /// Tools that were ready to be called.
    pub(crate) warm: Warm,
    /// Pages of tools that were offered.
    pub(crate) pages: Pages,
    /// SHA-256 of the operator's side of policy.
    pub(crate) baseline: Hash,
    /// Whether that is on the record.
    noted: OnceCell<()>,
    /// Outcomes on their way to the record: of calls whose callers went away, or which wait for a person; and changes
    /// that are finished whoever goes away.
    pub(crate) late: TaskTracker,
    /// The keys of the server.
    pub(crate) keys: Arc<Ring>,
    /// Where it is told what happens.
    pub(crate) happenings: Happenings,
    /// The core is about to close: whoever would wait for ever stops.
    pub(crate) closing: CancellationToken,
    /// Also where nobody closes it.
    _closing: DropGuard,
    /// Questions that wait for a person.
    pub(crate) approvals: Approvals,
    /// Sandboxes that outlive a command.
    pub(crate) sandboxes: Sandboxes,
    /// What they can begin with.
    pub(crate) images: Images,
    /// How much callers may add to the audit log.
    pub(crate) budget: Arc<Budget>,
    /// How far the clock is ahead.
    pub(crate) ahead: Ahead,
    /// Heads of the record on their way to witnesses.
    posts: Posts,
    /// A share of the lock: whatever still writes holds the core, and so the folder.
    _ownership: Option<Ownership>,
}

/// How long the last signed heads may take to their witnesses.
const LAST_POSTS: Duration = Duration::from_secs(10);

/// The key in the store under which the operator's side of policy is remembered.
const BASELINE: &str = "baseline";

impl Core {
    /// Opens the store of a data folder. The caller sees to it that nobody else has it open.
    pub async fn open(opening: Opening) -> Result<Self, Refusal> {
        Self::open_owned(opening, None).await
    }

    /// Opens the store of a data folder that this process owns.
    pub(crate) async fn open_owned(opening: Opening, ownership: Option<Ownership>) -> Result<Self, Refusal> {
        let Opening { data, config, settings, fallback, cells, backends, presence } = opening;
        let sandboxes = Sandboxes::new(backends, presence, settings.sandbox.most);
        let posts = Posts::default();
        let approvals = Approvals::new(presence, &settings)?;
        let happenings = Happenings::default();
        let options = Options {
            witnesses: journal::witnesses(&settings, &posts)?,
            hears: Some(Arc::new(happenings.clone())),
            ..Options::default()
        };
        let folder = data.clone();
        let opened = tokio::task::spawn_blocking(move || Store::open(&folder, options)).await;
        let store = opened.map_err(|_| Refusal::internal("opening the store"))??;
        let baseline = Hash::of_bytes(said(&settings.baseline, &settings.sandbox).as_bytes());
        let budget = Arc::new(Budget::new(&data, &settings.audit));
        let world = World::new(settings, Folders { data, config }, fallback, cells);
        pass::sweep(world.data());
        code::sweep(world.data());
        let (shelf, late) = (Shelf::default(), TaskTracker::new());
        let closing = CancellationToken::new();
        let inner = Inner {
            store,
            world,
            shelf,
            warm: Warm::default(),
            pages: Pages::default(),
            baseline,
            noted: OnceCell::new(),
            late,
            keys: Arc::default(),
            happenings,
            _closing: closing.clone().drop_guard(),
            closing,
            approvals,
            sandboxes,
            images: Images::default(),
            budget,
            ahead: Ahead::default(),
            posts,
            _ownership: ownership,
        };
        let core = Self { inner: Arc::new(inner) };
        core.load_keys().await?;
        core.carry_on_commits().await?;
        core.forget_in_time();
        core.begin_backends(presence);
        Ok(core)
    }

    /// Has the backends remove what owners left that are gone, beside everything else, if this process stays.
    fn begin_backends(&self, presence: Presence) {
        if presence == Presence::Brief {
            return;
        }
        for backend in self.inner.sandboxes.backends.all() {
            let (backend, closing) = (backend.clone(), self.inner.closing.clone());
            self.inner.late.spawn(async move {
                tokio::select! {
                    () = closing.cancelled() => {}
                    () = backend.begin() => {}
                }
            });
        }
    }

    /// Ends what commits of a process that was killed have begun, before anybody looks at those folders.
    async fn carry_on_commits(&self) -> Result<(), Refusal> {
        let data = self.inner.world.data().clone();
        let looked = tokio::task::spawn_blocking(move || sandboxes::recover_commits(&data)).await;
        let actor = Actor { key: None, client: "bailiwick".to_owned() };
        for outcome in looked.map_err(|_| Refusal::internal("carrying on commits"))? {
            let entry = told(journal::change(&actor, "sandbox.commit.recover", None), outcome);
            self.append(entry, Durability::Process).await?;
        }
        Ok(())
    }

    /// Performs an action. Dropping the future ends it: a cell is killed, and what was not handed to the store yet is not
    /// written. A [`Desk`](crate::Desk) keeps a change that began from being dropped.
    pub fn perform(&self, caller: Caller, action: Action) -> BoxFuture<'_, Result<Reply, Refusal>> {
        Box::pin(self.perform_caught(caller, action))
    }

    async fn perform_caught(&self, caller: Caller, action: Action) -> Result<Reply, Refusal> {
        let (open, name) = (OpenCall::default(), action.name());
        let mut acting = Box::pin(self.act(caller, action, &open));
        // After the action, so that it goes before it: whoever closes the record then waits for the outcome.
        let mut watch = Watch { open: &open, core: self, is_over: false };
        let ended = caught(acting.as_mut()).await;
        watch.is_over = true;
        if let Some(reply) = ended {
            reply
        } else {
            watch.end(ErrorCode::Internal).await;
            Err(Refusal::internal(name))
        }
    }

    async fn act(&self, caller: Caller, action: Action, open: &OpenCall) -> Result<Reply, Refusal> {
        authority::check(&caller, &action)?;
        let Inner { budget, store, .. } = &*self.inner;
        let admission = budget::admission(budget, store, &caller, &action).await?;
        Box::pin(admission.charging(self.act_admitted(caller, action, open))).await
    }

    async fn act_admitted(&self, caller: Caller, action: Action, open: &OpenCall) -> Result<Reply, Refusal> {
        if !action.only_reads() {
            // On the record before the first thing that is done under it.
            self.inner.noted.get_or_try_init(|| self.note_policy()).await?;
        }
        match action {
            Action::Under => Ok(Reply::Under(under(&self.inner.world.settings))),
            Action::ToolList { after, limit } => catalogue::list(self, &caller, after, limit).await,
            Action::ToolOffered { after, limit } => catalogue::offered(self, after, limit).await,
            Action::ToolShow { tool } => catalogue::show(self, &caller, &tool).await,
            Action::ToolCheck { document } => catalogue::check(self, &document).await,
            Action::ToolTry { document, live } => pass::try_out(self, &caller, &document, live).await,
            Action::ToolImport { documents, approval_off } => {
                catalogue::import(self, &caller, documents, approval_off).await
            }
            Action::ToolReplace { tool, version, document, approval_off } => {
                let there = catalogue::There { tool, version };
                catalogue::replace(self, &caller, there, &document, approval_off).await
            }
            Action::ToolExport { tools } => catalogue::export(self, tools).await,
            Action::ToolTest { which, live } => pass::test(self, &caller, which, live).await,
            Action::ToolPublish { tool, reasons } => catalogue::publish(self, &caller, &tool, reasons).await,
            Action::ToolPublishDocument { document, reasons, approval_off } => {
                catalogue::publish_document(self, &caller, &document, reasons, approval_off).await
            }
            Action::ToolUnpublish { tool } => catalogue::unpublish(self, &caller, &tool).await,
            Action::ToolRemove { tool } => catalogue::remove(self, &caller, &tool).await,
            Action::ToolCall { tool, arguments, correlation, workspace } => {
                let asked = pipeline::Asked { tool, arguments, correlation, workspace };
                pipeline::call(self, &caller, asked, open).await
            }
            Action::ToolPolicy { document } => catalogue::policy(self, &document),
            Action::CodeRun(run) => code::run(self, &caller, *run, open).await,
            Action::CodeCheck { code } => code::check(self, &code).await,
            Action::Limits => code::limits(self),
            Action::SecretList => Ok(Reply::Secrets(self.inner.world.secret_names()?)),
            Action::KeyCreate(wish) => keys::create(self, &caller, wish).await,
            Action::KeyList => Ok(keys::list(self)),
            Action::KeyRevoke { key } => keys::revoke(self, &caller, &key).await,
            Action::Watch => happenings::attend(self, &caller).await,
            Action::ApprovalList => Ok(approvals::list(self)),
            Action::ApprovalAnswer { id, yes, remember } => {
                approvals::answer(self, &caller, id, yes, remember).await
            }
            Action::ApprovalRemembered => approvals::remembered(self).await,
            Action::ApprovalForget { id } => approvals::forget(self, &caller, id).await,
            Action::RunBegins(intent) => journal::run_begins(self, &caller, intent).await,
            Action::RunEnded(outcome) => journal::run_ended(self, &caller, outcome).await,
            Action::SandboxCreate(wish) => sandboxes::create(self, &caller, *wish, open).await,
            Action::SandboxList => Ok(sandboxes::list(self, &caller)),
            Action::SandboxShow { sandbox } => sandboxes::show(self, &caller, &sandbox).await,
            Action::SandboxExec(wish) => sandboxes::exec(self, &caller, *wish, open).await,
            Action::SandboxFiles { sandbox, wish } => {
                sandboxes::files(self, &caller, &sandbox, wish, open).await
            }
            Action::SandboxSnapshot { sandbox } => sandboxes::snapshot(self, &caller, &sandbox, open).await,
            Action::SnapshotList => Ok(sandboxes::snapshots(self, &caller)),
            Action::SnapshotForget { snapshot } => sandboxes::forget(self, &caller, &snapshot, open).await,
            Action::SandboxHibernate { sandbox } => sandboxes::hibernate(self, &caller, &sandbox, open).await,
            Action::SandboxResume { sandbox } => sandboxes::resume(self, &caller, &sandbox, open).await,
            Action::SandboxFork { sandbox, name } => {
                sandboxes::fork(self, &caller, &sandbox, name, open).await
            }
            Action::SandboxStop { sandbox } => sandboxes::stop(self, &caller, &sandbox, open).await,
            Action::SandboxRemove { sandbox } => sandboxes::remove(self, &caller, &sandbox, open).await,
            Action::SandboxDiff { sandbox, wish } => sandboxes::diff(self, &caller, &sandbox, wish).await,
            Action::SandboxCommit { sandbox, wish } => {
                sandboxes::commit(self, &caller, &sandbox, wish, open).await
            }
            Action::SandboxDiscard { sandbox, wish } => {
                sandboxes::discard(self, &caller, &sandbox, wish, open).await
            }
            Action::ImageList => images::list(self).await,
            Action::ImagePull { image } => images::pull(self, &caller, &image, open).await,
            Action::ImageImport { from, name } => images::import(self, &caller, (from, &name), open).await,
            Action::ImageRemove { image } => images::remove(self, &caller, &image, open).await,
            Action::SandboxExpose { sandbox, port } => {
                sandboxes::expose(self, &caller, &sandbox, port, open).await
            }
            Action::SandboxPorts { sandbox } => sandboxes::ports(self, &caller, &sandbox),
            Action::ExecStart(wish) => sandboxes::start(self, &caller, *wish, open).await,
            Action::ExecPoll { sandbox, exec, cursor, wait_ms } => {
                sandboxes::poll(self, &caller, &sandbox, &exec, cursor, wait_ms).await
            }
            Action::ExecKill { sandbox, exec } => sandboxes::kill(self, &caller, &sandbox, &exec, open).await,
            Action::ExecList { sandbox } => sandboxes::execs(self, &caller, &sandbox),
            Action::AgentUse(wish) => sandboxes::agent(self, &caller, *wish, open).await,
            Action::ExecBegins(intent) => sandboxes::exec_begins(self, &caller, *intent).await,
            Action::ExecEnded(outcome) => sandboxes::exec_ended(self, &caller, *outcome).await,
            Action::AuditTail { limit } => journal::tail(self, limit).await,
            Action::AuditPage { from, newest_first, limit } => {
                journal::page(self, from, newest_first, limit).await
            }
            Action::AuditShow { about } => journal::show(self, about).await,
            Action::AuditVerify => journal::verify(self, &caller).await,
            Action::AuditExport { from, limit } => journal::export(self, from, limit).await,
            Action::AuditRetain { days, records } => journal::retain(self, days, records).await,
        }
    }

    /// Puts an entry on the record, and waits until it is as safe as it has to be.
    pub(crate) async fn append(&self, entry: Entry, durability: Durability) -> Result<Stamp, Refusal> {
        let stamp = self.inner.store.write(durability, move |tx| tx.append(&entry)).await?;
        budget::charge(stamp.bytes);
        Ok(stamp)
    }

    /// Whether an action of the operator could be put on the audit log now: there is disk space for it, and the store can be
    /// written. Where that is in doubt, a row is written to find out.
    pub async fn can_record(&self) -> Result<(), Refusal> {
        self.inner.budget.can_record(&self.inner.store).await
    }

    /// Makes cells before the first call needs one; tells which walls were seen to stand around them.
    pub async fn warm_up(&self) -> Result<Vec<Wallpart>, Refusal> {
        let walls = self.inner.world.runtime().await?.walls(&Tenant::default()).await;
        walls.map_err(|error| Refusal::new(error.code(), error.to_string()).with_hint(error.hint()))
    }

    /// What a person should know of, in one sentence each.
    pub fn troubles(&self) -> Vec<String> {
        let Troubles { witnesses_missed, records_were_cut, records_were_added, last } =
            self.inner.store.troubles();
        let mut told = Vec::new();
        if records_were_cut {
            told.push(
                "signed records were gone when the store was opened: bailiwick audit verify".to_owned(),
            );
        }
        if records_were_added {
            told.push("records that are not ours lay in the store: bailiwick audit verify".to_owned());
        }
        if witnesses_missed > 0 {
            let why = last.map_or_else(String::new, |last| format!(": {last}"));
            told.push(format!("{witnesses_missed} signed heads did not reach a witness{why}"));
        }
        let unsent = self.inner.posts.missed();
        if unsent > 0 {
            told.push(format!(
                "{unsent} signed heads did not reach a witness at an address of audit.witness"
            ));
        }
        let unannounced = self.inner.approvals.unannounced();
        if unannounced > 0 {
            told.push(format!(
                "{unannounced} waiting questions were not announced as approvals.notify wants"
            ));
        }
        told.extend(self.key_troubles());
        told
    }

    /// Whoever would wait for ever stops. Nothing else changes.
    pub fn end_watching(&self) {
        self.inner.closing.cancel();
    }

    /// Signs the record and closes the store.
    pub async fn close(&self) -> Result<(), Refusal> {
        self.inner.closing.cancel();
        // Calls that wait for a person put on the record that they do not any more, before it is closed.
        self.end_questions();
        self.inner.late.close();
        self.inner.late.wait().await;
        self.inner.sandboxes.close().await;
        self.keep_all_uses().await;
        let closed = self.inner.store.close().await;
        self.inner.posts.on_their_way.close();
        if tokio::time::timeout(LAST_POSTS, self.inner.posts.on_their_way.wait()).await.is_err() {
            tracing::warn!("a witness did not take the last signed head in time");
        }
        self.inner.approvals.announced().await;
        Ok(closed?)
    }

    /// Removes records that are older than the operator keeps them, beside everything else.
    fn forget_in_time(&self) {
        let core = self.clone();
        let keep =
            Retention { max_age_ms: Some(self.inner.world.settings.audit.keep_ms), ..Retention::default() };
        self.inner.late.spawn(async move {
            // What is left now is looked at again at the next start.
            if let Err(error) = journal::forget(&core, keep).await {
                tracing::warn!(%error, "old records could not be removed");
            }
        });
    }

    /// Puts a changed operator's side of policy on the record.
    async fn note_policy(&self) -> Result<(), Refusal> {
        let now = self.inner.baseline.to_string();
        let before = self.inner.store.read(|view| view.meta(BASELINE)).await?;
        if before.as_deref() == Some(&now) {
            return Ok(());
        }
        let said = serde_json::json!({"before": before, "after": now});
        let actor = Actor { key: None, client: "operator".to_owned() };
        let entry = told(journal::change(&actor, "policy.change", None), said);
        let noted = self.inner.store.write(Durability::Machine, move |tx| {
            tx.set_meta(BASELINE, &now)?;
            tx.append(&entry)
        });
        noted.await?;
        Ok(())
    }
}

/// The call of an action whose intent is on the record and whose outcome is not.
#[derive(Default)]
pub(crate) struct OpenCall(Mutex<Option<Entry>>);

impl OpenCall {
    /// An intent was recorded.
    pub(crate) fn begin(&self, outcome: Entry) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    /// Its outcome is about to be recorded by whoever asks for it here.
    pub(crate) fn take(&self) -> Option<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Waits for an action; none when it panicked, which is nobody's business but its own.
async fn caught<T>(mut acting: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| acting.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |polled| polled.map(Some))
    })
    .await
}

/// Puts on the record how the call of an action ended whose caller went away.
struct Watch<'a> {
    open: &'a OpenCall,
    core: &'a Core,
    is_over: bool,
}

impl Watch<'_> {
    async fn end(&self, code: ErrorCode) {
        if let Some(entry) = self.open.take() {
            let entry = journal::ended(entry, code);
            // Nobody is left to be told: the store counts what it could not write.
            let _written = self.core.append(entry, Durability::Process).await;
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let Some(entry) = self.open.take() else { return };
        let (core, entry) = (self.core.clone(), journal::ended(entry, ErrorCode::Cancelled));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let late = self.core.inner.late.clone();
            late.spawn_on(async move { core.append(entry, Durability::Process).await }, &runtime);
        }
    }
}
