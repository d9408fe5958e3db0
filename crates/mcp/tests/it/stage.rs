//! A server with a real core behind it, the people who use it, and the few words most tests are made of.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::{Extension, Router};
use bailiwick_config::{Environment, FolderFile, load};
use bailiwick_core::sandboxes::AgentOffer;
use bailiwick_core::{
    Action, Actor, Admitted, Caller, Core, Desk, Dialogue, Document, Fallback, Happening, Hints, KeyWish,
    Opening, Presence, Reasons, Refusal, Reply, Runtime, Settled, Waiting,
};
use bailiwick_mcp::{Bare, Mcp, Native, Offers, Published, Settings};
use bailiwick_types::{ApprovalId, KeyId, RiskLevel, Scope, Scopes};
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::client::{Client, Way};

/// How long something that must happen may take.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Runs a test on a tokio runtime of its own.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    tokio.expect("a tokio runtime").block_on(test)
}

/// Waits for what must happen.
pub(crate) async fn soon<T>(happens: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, happens).await.expect("it was to happen soon")
}

/// How a server is set up.
pub(crate) struct Setup {
    pub(crate) tools: Vec<String>,
    pub(crate) set: Vec<String>,
    pub(crate) natives: Vec<(Native, bool)>,
    pub(crate) elicitation: RiskLevel,
    pub(crate) body_bytes: usize,
}

impl Setup {
    pub(crate) fn with(tools: &[&str]) -> Self {
        Self {
            tools: tools.iter().map(|text| (*text).to_owned()).collect(),
            set: Vec::new(),
            natives: Vec::new(),
            elicitation: RiskLevel::L4,
            body_bytes: 1 << 20,
        }
    }

    /// What the operator sets, as `--set` would.
    pub(crate) fn set(mut self, setting: &str) -> Self {
        self.set.push(setting.to_owned());
        self
    }

    pub(crate) fn native(mut self, native: Native, asks: bool) -> Self {
        self.natives.push((native, asks));
        self
    }

    pub(crate) fn elicitation(mut self, level: RiskLevel) -> Self {
        self.elicitation = level;
        self
    }

    pub(crate) async fn open(self) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let opening = opening(folder.path(), &self.set);
        let sandboxes = AgentOffer::of(&opening.settings).expect("an offer");
        let desk = Arc::new(Desk::open(opening).await.expect("a desk"));
        let core = desk.core().expect("the owner's core");
        for text in &self.tools {
            offer(&core, text).await;
        }
        let agents = [key(&core, "agent", Scope::Call).await, key(&core, "other", Scope::Call).await];
        let anna = key(&core, "anna", Scope::Approve).await;
        let (mcp, closing) = serve(&desk, &self, sandboxes.clone());
        let watch = core.watch();
        let router = mcp.router();
        Stage { folder, desk, core, router, mcp, closing, agents, anna, watch, sandboxes, setup: self }
    }
}

fn serve(desk: &Arc<Desk>, setup: &Setup, sandboxes: AgentOffer) -> (Mcp, CancellationToken) {
    let hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
    let bare = Bare { level: RiskLevel::L0, hints, sandboxes };
    let offers = Published::new(desk, setup.natives.clone(), bare, setup.elicitation);
    server_of(Arc::new(offers), setup)
}

fn server_of(offers: Arc<dyn Offers>, setup: &Setup) -> (Mcp, CancellationToken) {
    let closing = CancellationToken::new();
    let deadline = Duration::from_mins(2);
    let settings = Settings { deadline, body_bytes: setup.body_bytes, closing: closing.clone() };
    (Mcp::new(offers, settings).expect("a server"), closing)
}

fn opening(folder: &Path, set: &[String]) -> Opening {
    let home = folder.join("home");
    let environment = Environment {
        working_folder: home.clone(),
        system_folder: home.join("etc"),
        home: Some(home.clone()),
        config_home: None,
        data_home: None,
        data: None,
        config: None,
        variables: std::collections::BTreeMap::new(),
    };
    let request = bailiwick_config::Request {
        config: None,
        data: Some(folder.join("data")),
        set: set.to_vec(),
        folder_file: FolderFile::Skip,
    };
    Opening {
        data: folder.join("data"),
        config: home.join("config"),
        settings: load(&environment, &request).expect("settings").settings,
        fallback: Fallback::none(),
        cells: Runtime::builder().parked(1),
        backends: bailiwick_core::Backends::default(),
        presence: Presence::Serving,
    }
}

/// A server, and what stands behind it.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    pub(crate) desk: Arc<Desk>,
    pub(crate) core: Core,
    pub(crate) mcp: Mcp,
    pub(crate) router: Router,
    pub(crate) closing: CancellationToken,
    agents: [KeyId; 2],
    anna: KeyId,
    watch: Receiver<Arc<Happening>>,
    sandboxes: AgentOffer,
    setup: Setup,
}

/// The operator.
fn operator() -> Caller {
    Caller::alone(Actor { key: None, client: "test".to_owned() })
}

/// Takes a tool in, passes it and publishes it.
pub(crate) async fn offer(core: &Core, text: &str) {
    let document = Document { name: "tool.yaml".to_owned(), text: text.to_owned() };
    let reasons = Reasons { justification: Some("needed by the tests".to_owned()), despite_scan: None };
    let action = Action::ToolPublishDocument { document, reasons, approval_off: false };
    let published = core.perform(operator(), action).await;
    let Ok(Reply::Published(_)) = published else { panic!("{published:?}") };
}

async fn key(core: &Core, name: &str, scope: Scope) -> KeyId {
    let wish = KeyWish {
        name: name.to_owned(),
        scopes: Scopes::of([scope]),
        expires_in_s: None,
        per_second: None,
        at_once: None,
        dialogue: scope == Scope::Call,
    };
    let made = core.perform(operator(), Action::KeyCreate(wish)).await;
    let Ok(Reply::KeyMade(made)) = made else { panic!("{made:?}") };
    made.line.id
}

fn keyed(name: &str, key: KeyId, scope: Scope) -> Admitted {
    let actor = Actor { key: Some(name.to_owned()), client: "http".to_owned() };
    let dialogue = Dialogue::of_key(scope == Scope::Call);
    Admitted { key: Some(key), dialogue, ..Admitted::alone(actor, Scopes::of([scope])) }
}

/// Somebody on this machine without a key.
pub(crate) fn keyless() -> Admitted {
    Admitted::alone(Actor { key: None, client: "keyless".to_owned() }, Scopes::of([Scope::Call]))
}

impl Stage {
    pub(crate) async fn with(tools: &[&str]) -> Self {
        Setup::with(tools).open().await
    }

    /// Another server process on the same core.
    pub(crate) fn next_server(&mut self) {
        (self.mcp, self.closing) = serve(&self.desk, &self.setup, self.sandboxes.clone());
        self.router = self.mcp.router();
    }

    /// A server of something else.
    pub(crate) fn offering(&mut self, offers: Arc<dyn Offers>) {
        (self.mcp, self.closing) = server_of(offers, &self.setup);
        self.router = self.mcp.router();
    }

    /// An agent with a key that may call, and whose client's dialogue counts.
    pub(crate) fn agent(&self) -> Admitted {
        keyed("agent", self.agents[0], Scope::Call)
    }

    /// Another one.
    pub(crate) fn other(&self) -> Admitted {
        keyed("other", self.agents[1], Scope::Call)
    }

    /// The agent's key as if it had been made without `--dialogue`.
    pub(crate) fn without_dialogue(&self) -> Admitted {
        Admitted { dialogue: Dialogue::Ignored, ..self.agent() }
    }

    /// Somebody who may approve and nothing else.
    pub(crate) fn anna(&self) -> Admitted {
        keyed("anna", self.anna, Scope::Approve)
    }

    pub(crate) async fn act(&self, action: Action) -> Result<Reply, Refusal> {
        self.core.perform(operator(), action).await
    }

    pub(crate) async fn offer(&self, text: &str) {
        offer(&self.core, text).await;
    }

    pub(crate) async fn revoke(&self, key: &str) {
        self.act(Action::KeyRevoke { key: key.to_owned() }).await.expect("revoked");
    }

    /// A client of the agent, that can show forms.
    pub(crate) async fn client(&self, way: Way) -> Client {
        Client::open(self, way, self.agent(), &Client::shows_forms()).await
    }

    /// A client of the agent, that can show nothing.
    pub(crate) async fn plain(&self, way: Way) -> Client {
        Client::open(self, way, self.agent(), &serde_json::json!({})).await
    }

    /// Sends a request as somebody.
    pub(crate) async fn send(&self, who: Admitted, request: Request<Body>) -> Response {
        self.router.clone().layer(Extension(who)).oneshot(request).await.expect("an answer")
    }

    /// The records, the oldest first.
    pub(crate) async fn records(&self) -> Vec<Value> {
        match self.act(Action::AuditTail { limit: 1000 }).await {
            Ok(Reply::Records(records)) => records,
            other => panic!("{other:?}"),
        }
    }

    /// The records of one kind.
    pub(crate) async fn records_of(&self, kind: &str) -> Vec<Value> {
        self.records().await.into_iter().filter(|record| record["kind"] == kind).collect()
    }

    /// Waits until there are so many records of a kind, and gives the last.
    pub(crate) async fn record(&self, kind: &str, count: usize) -> Value {
        let look = async {
            loop {
                let mut records = self.records_of(kind).await;
                if records.len() >= count {
                    return records.pop().expect("a record");
                }
                tokio::task::yield_now().await;
            }
        };
        soon(look).await
    }

    /// How often the tool that writes ran, by the files that it left.
    pub(crate) fn runs(&self) -> usize {
        fn count(folder: &Path) -> usize {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            let of = |path: std::path::PathBuf| {
                let is_one = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ran-"));
                usize::from(is_one) + if path.is_dir() { count(&path) } else { 0 }
            };
            entries.map(of).sum()
        }
        count(&self.folder.path().join("data"))
    }

    /// That it ran exactly so often, by its files and by the record.
    pub(crate) async fn ran(&self, times: usize) {
        assert_eq!(self.runs(), times, "runs, by the files that were left");
        let intents = self.records_of("intent").await;
        assert_eq!(intents.len(), times, "runs, by the record: {intents:#?}");
    }

    /// That so many calls ran, by the record.
    pub(crate) async fn ran_calls(&self, times: usize) {
        let intents = self.records_of("intent").await;
        assert_eq!(intents.len(), times, "calls, by the record: {intents:#?}");
    }

    /// What holds the data folder, when all else is dropped.
    pub(crate) fn into_desk(self) -> (Arc<Desk>, tempfile::TempDir) {
        (self.desk, self.folder)
    }

    async fn next(&mut self) -> Arc<Happening> {
        soon(self.watch.recv()).await.expect("a happening")
    }

    /// The next question in the queue.
    pub(crate) async fn asked(&mut self) -> Waiting {
        loop {
            if let Happening::Asked(waiting) = &*self.next().await {
                return waiting.clone();
            }
        }
    }

    /// How the next question ended.
    pub(crate) async fn settled(&mut self) -> Settled {
        loop {
            if let Happening::Answered(settled) = &*self.next().await {
                return settled.clone();
            }
        }
    }

    /// Somebody answers in the queue.
    pub(crate) async fn answer(&self, id: ApprovalId, yes: bool) -> Result<Reply, Refusal> {
        let Admitted { actor, scopes, key, .. } = self.anna();
        let anna = Caller { key, ..Caller::covering(actor, scopes) };
        self.core.perform(anna, Action::ApprovalAnswer { id, yes, remember: None }).await
    }
}
