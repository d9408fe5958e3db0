//! A core on a data folder of its own, and the few words most tests are made of.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bailiwick_config::{Environment, FolderFile, Request, load};
use bailiwick_core::{
    Action, Actor, Answer, Approver, Caller, Core, Document, Event, Imported, Listener, Opening, Presence,
    Published, Question, Reasons, Refusal, Reply, Tested, ToolLine, ToolView, Verified, Which,
};
use bailiwick_runtime::Runtime;
use bailiwick_secrets::Fallback;
use bailiwick_types::{CallReport, ErrorCode};
use serde_json::{Map, Value};

/// Runs a test on a tokio runtime of its own.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    tokio.expect("a tokio runtime").block_on(test)
}

/// A data folder and what the operator says about it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    operator: Vec<String>,
    presence: Presence,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, operator: Vec::new(), presence: Presence::Brief }
    }

    /// A process that stays, so that somebody may come and answer.
    pub(crate) fn serving(mut self) -> Self {
        self.presence = Presence::Serving;
        self
    }

    /// What the operator sets, as `--set` would.
    pub(crate) fn set(mut self, setting: &str) -> Self {
        self.operator.push(setting.to_owned());
        self
    }

    /// The operator changes a setting.
    pub(crate) fn reset(&mut self, settings: &[&str]) {
        self.operator = settings.iter().map(|text| (*text).to_owned()).collect();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("store.db")
    }

    pub(crate) fn opening(&self) -> Opening {
        let home = self.folder.path().join("home");
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
        let request = Request {
            config: None,
            data: Some(self.data()),
            set: self.operator.clone(),
            folder_file: FolderFile::Skip,
        };
        let loaded = load(&environment, &request).expect("settings");
        Opening {
            data: self.data(),
            config: home.join("config"),
            settings: loaded.settings,
            fallback: Fallback::none(),
            cells: Runtime::builder().parked(1),
            backends: bailiwick_core::Backends::default(),
            presence: self.presence,
        }
    }

    pub(crate) async fn open(&self) -> House {
        std::fs::create_dir_all(self.data()).expect("a data folder");
        private(&self.data());
        House { core: Core::open(self.opening()).await.expect("a core") }
    }
}

pub(crate) fn private(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).expect("permissions");
}

/// A core, and short words for its actions.
pub(crate) struct House {
    pub(crate) core: Core,
}

/// Somebody at a terminal whom nobody answers for.
pub(crate) fn cli() -> Caller {
    Caller::alone(Actor { key: None, client: "test".to_owned() })
}

impl House {
    pub(crate) async fn act(&self, action: Action) -> Result<Reply, Refusal> {
        self.core.perform(cli(), action).await
    }

    #[track_caller]
    pub(crate) fn import(
        &self,
        documents: &[Document],
    ) -> impl Future<Output = Result<Vec<Imported>, Refusal>> {
        let action = Action::ToolImport { documents: documents.to_vec(), approval_off: false };
        let reply = self.core.clone();
        async move {
            match reply.perform(cli(), action).await? {
                Reply::Imported(imported) => Ok(imported),
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) async fn test(&self, name: &str) -> Tested {
        let which = Which::Named(vec![name.to_owned()]);
        match self.act(Action::ToolTest { which, live: false }).await {
            Ok(Reply::Tested(mut tested)) => tested.remove(0),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn publish(&self, name: &str, reasons: Reasons) -> Result<Published, Refusal> {
        match self.act(Action::ToolPublish { tool: name.to_owned(), reasons }).await? {
            Reply::Published(published) => Ok(*published),
            other => panic!("{other:?}"),
        }
    }

    /// Takes a tool in, passes it and publishes it.
    pub(crate) async fn offer(&self, document: &Document) -> ToolLine {
        let reasons = Reasons { justification: Some("needed by the tests".to_owned()), despite_scan: None };
        let action = Action::ToolPublishDocument { document: document.clone(), reasons, approval_off: false };
        match self.act(action).await {
            Ok(Reply::Published(published)) => published.tool,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn call_as(
        &self,
        caller: Caller,
        name: &str,
        arguments: Value,
    ) -> Result<CallReport, Refusal> {
        let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
        let action =
            Action::ToolCall { tool: name.to_owned(), arguments, correlation: None, workspace: None };
        match self.core.perform(caller, action).await? {
            Reply::Called(report) => Ok(*report),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<CallReport, Refusal> {
        self.call_as(cli(), name, arguments).await
    }

    pub(crate) async fn show(&self, name: &str) -> ToolView {
        match self.act(Action::ToolShow { tool: name.to_owned() }).await {
            Ok(Reply::Tool(view)) => *view,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn state(&self, name: &str) -> String {
        self.show(name).await.line.state
    }

    pub(crate) async fn tail(&self, limit: u32) -> Vec<Value> {
        match self.act(Action::AuditTail { limit }).await {
            Ok(Reply::Records(records)) => records,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn verify(&self) -> Verified {
        match self.act(Action::AuditVerify).await {
            Ok(Reply::Verified(verified)) => verified,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn close(self) {
        self.core.close().await.expect("closed");
    }
}

/// A document in YAML.
pub(crate) fn yaml(name: &str, text: &str) -> Document {
    Document { name: format!("{name}.tool.yaml"), text: text.to_owned() }
}

/// A tool that adds two numbers.
pub(crate) const ADD: &str = "
name: add
title: Add
description: Adds two whole numbers and gives their sum.
params:
  - {name: a, type: INTEGER, required: true, description: The first number, testValue: 40}
  - {name: b, type: INTEGER, required: true, description: The second number, testValue: 2}
output: {type: integer}
tests:
  - {name: small numbers, input: {a: 1, b: 2}, equals: 3}
code: |
  return a + b;
";

/// A tool that reaches a host it does not declare.
pub(crate) const STARS: &str = "
name: stars
description: Tells how many stars a repository has.
params:
  - {name: repo, type: STRING, required: true, description: Owner and name, testValue: a/b}
tests:
  - name: counts stars
    input: {repo: a/b}
    http: [{request: {url: \"https://api.github.com/repos/a/b\"}, response: {json: {stargazers_count: 7}}}]
    equals: 7
code: |
  const answer = await fetch(`https://api.github.com/repos/${repo}`);
  return (await answer.json()).stargazers_count;
";

/// Somebody who answers every question alike and remembers what was asked.
pub(crate) struct Says {
    answer: Option<Answer>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Says {
    pub(crate) fn yes() -> Arc<Self> {
        Self::with(Some(Answer::Yes { by: "test".to_owned() }))
    }

    pub(crate) fn no() -> Arc<Self> {
        Self::with(Some(Answer::No { by: "test".to_owned() }))
    }

    /// Somebody who never answers.
    pub(crate) fn nothing() -> Arc<Self> {
        Self::with(None)
    }

    fn with(answer: Option<Answer>) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }
}

impl Approver for Says {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        self.asked.lock().expect("not poisoned").push(question);
        match &self.answer {
            Some(answer) => Box::pin(std::future::ready(answer.clone())),
            None => Box::pin(std::future::pending()),
        }
    }
}

/// A caller for whom this one answers.
pub(crate) fn with(approver: Arc<dyn Approver>) -> Caller {
    Caller { approver, ..cli() }
}

/// Hears everything.
#[derive(Default)]
pub(crate) struct Hears(pub(crate) Mutex<Vec<Event>>);

impl Listener for Hears {
    fn hear(&self, event: Event) {
        self.0.lock().expect("not poisoned").push(event);
    }
}

/// A caller who hears everything.
pub(crate) fn hearing() -> (Caller, Arc<Hears>) {
    let hears = Arc::new(Hears::default());
    let listener: Arc<dyn Listener> = hears.clone();
    (Caller { listener, ..cli() }, hears)
}

/// The code of a refusal.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, Refusal>) -> (ErrorCode, String) {
    let refusal = result.expect_err("it was to be refused");
    (refusal.code, refusal.message)
}

/// Changes the file of the store behind our back.
pub(crate) fn sql(place: &Place, statement: &str) -> usize {
    let connection = rusqlite::Connection::open(place.database()).expect("the store");
    connection.execute(statement, []).expect("a statement that works")
}
