//! A server whose calls wait for a person, and the few words the tests of that are made of.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::{
    Action, Actor, Caller, Core, Happening, KeyWish, Refusal, Remember, RememberedYes, Reply, Settled,
    Waiting,
};
use bailiwick_types::{ApprovalId, CallReport, ErrorCode, KeyId, Scope, Scopes};
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::task::JoinHandle;

use crate::stage::{House, Place, yaml};

/// A tool that leaves a file behind when it runs, so that it can be seen whether it did.
pub(crate) const WRITES: &str = "
name: writes
description: Writes a number into a file, if a person agrees.
params:
  - {name: n, type: INTEGER, required: true, description: A number, testValue: 1}
  - {name: m, type: INTEGER, default: 5, description: Another number}
overrides: {fileWrite: true}
approval: {mode: REQUIRED}
code: |
  safety.fs.writeText('ran.txt', `${n} ${m}`);
  return n;
";

/// What a call gives.
pub(crate) type Called = Result<CallReport, Refusal>;

/// A server with the tool above, which somebody could answer for.
pub(crate) struct Served {
    pub(crate) place: Place,
    pub(crate) house: House,
    /// A person who may answer.
    anna: Caller,
    watch: Receiver<Arc<Happening>>,
}

/// A place whose process stays.
pub(crate) fn place() -> Place {
    Place::new().serving()
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::at(place()).await
    }

    pub(crate) async fn at(place: Place) -> Self {
        let house = place.open().await;
        house.offer(&yaml("writes", WRITES)).await;
        Self::with(place, house).await
    }

    async fn with(place: Place, house: House) -> Self {
        let anna = keyed("anna", key(&house, "anna", Scope::Approve).await, Scope::Approve);
        let agents = (key(&house, "agent", Scope::Call).await, key(&house, "other", Scope::Call).await);
        AGENTS.set(Some(agents));
        let watch = house.core.watch();
        assert!(!has_run(&place), "a rehearsal leaves nothing in a workspace");
        Self { place, house, anna, watch }
    }

    /// The same data folder, by the next server.
    pub(crate) async fn reopened(self, settings: &[&str]) -> Self {
        let Self { mut place, house, anna, watch: _ } = self;
        house.close().await;
        place.reset(settings);
        let house = place.open().await;
        let watch = house.core.watch();
        Self { place, house, anna, watch }
    }

    /// A person who may answer.
    pub(crate) fn anna(&self) -> Caller {
        self.anna.clone()
    }

    /// Nobody is left who could answer.
    pub(crate) async fn lose_approver(&self) {
        self.house.act(Action::KeyRevoke { key: "anna".to_owned() }).await.expect("revoked");
    }

    /// Begins a call.
    pub(crate) fn call(&self, caller: Caller, arguments: Value) -> JoinHandle<Called> {
        self.call_of("writes", caller, arguments)
    }

    /// Begins a call of another tool.
    pub(crate) fn call_of(&self, tool: &str, caller: Caller, arguments: Value) -> JoinHandle<Called> {
        let (house, tool) = (House { core: self.house.core.clone() }, tool.to_owned());
        tokio::spawn(async move { house.call_as(caller, &tool, arguments).await })
    }

    async fn next(&mut self) -> Arc<Happening> {
        let next = tokio::time::timeout(Duration::from_secs(20), self.watch.recv());
        next.await.expect("something was to happen").expect("a happening")
    }

    /// The next question.
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

    /// Whether nobody was asked since the last look.
    pub(crate) fn nobody_was_asked(&mut self) -> bool {
        let told = std::iter::from_fn(|| self.watch.try_recv().ok());
        told.filter(|happening| matches!(**happening, Happening::Asked(_))).count() == 0
    }

    pub(crate) async fn answer(&self, id: ApprovalId, yes: bool) -> Result<Reply, Refusal> {
        answer(&self.house.core, self.anna(), id, yes, None).await
    }

    pub(crate) async fn remember(&self, id: ApprovalId, remember: Remember) -> Result<Reply, Refusal> {
        answer(&self.house.core, self.anna(), id, true, Some(remember)).await
    }

    pub(crate) async fn waiting(&self) -> Vec<Waiting> {
        match self.house.core.perform(self.anna(), Action::ApprovalList).await {
            Ok(Reply::Approvals(waiting)) => waiting,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn remembered(&self) -> Vec<RememberedYes> {
        match self.house.core.perform(self.anna(), Action::ApprovalRemembered).await {
            Ok(Reply::Remembered(remembered)) => remembered,
            other => panic!("{other:?}"),
        }
    }

    /// Calls; a person is asked, and says no.
    pub(crate) async fn is_asked_about(&mut self, caller: Caller, arguments: Value) {
        let call = self.call(caller, arguments);
        let waiting = self.asked().await;
        self.answer(waiting.id, false).await.expect("answered");
        let report = call.await.expect("no panic").expect("a report");
        assert_eq!(report.failure().map(|failure| failure.code), Some(ErrorCode::ApprovalDeclined));
    }

    /// Calls; it runs, and nobody is asked.
    pub(crate) async fn runs_unasked(&mut self, caller: Caller, arguments: Value) {
        let report = self.call(caller, arguments).await.expect("no panic").expect("a report");
        assert!(report.is_ok(), "{report:?}");
        assert!(self.nobody_was_asked());
    }

    /// That nothing began, no cell was taken, and the record tells that much.
    pub(crate) async fn nothing_ran(&self) {
        assert!(!has_run(&self.place), "the tool ran");
        let records = self.house.tail(1000).await;
        let begun = records.iter().filter(|record| record["kind"] == "intent").count();
        assert_eq!(begun, 0, "{records:#?}");
    }
}

/// Whether the tool ran in any workspace.
pub(crate) fn has_run(place: &Place) -> bool {
    fn holds(folder: &Path) -> bool {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .any(|path| path.ends_with("ran.txt") || path.is_dir() && holds(&path))
    }
    holds(&place.data())
}

/// Answers a question as somebody.
pub(crate) async fn answer(
    core: &Core,
    who: Caller,
    id: ApprovalId,
    yes: bool,
    remember: Option<Remember>,
) -> Result<Reply, Refusal> {
    core.perform(who, Action::ApprovalAnswer { id, yes, remember }).await
}

/// Somebody with a key.
fn keyed(name: &str, key: KeyId, scope: Scope) -> Caller {
    let actor = Actor { key: Some(name.to_owned()), client: "mcp".to_owned() };
    Caller { key: Some(key), ..Caller::covering(actor, Scopes::of([scope])) }
}

/// A key of this house.
async fn key(house: &House, name: &str, scope: Scope) -> KeyId {
    let wish = KeyWish {
        name: name.to_owned(),
        scopes: Scopes::of([scope]),
        expires_in_s: None,
        per_second: None,
        at_once: None,
        dialogue: false,
    };
    let made = house.act(Action::KeyCreate(wish)).await.expect("a key");
    let Reply::KeyMade(made) = made else { panic!("{made:?}") };
    made.line.id
}

thread_local! {
    /// The keys of the two agents, in the house of the test that runs on this thread.
    static AGENTS: std::cell::Cell<Option<(KeyId, KeyId)>> = const { std::cell::Cell::new(None) };
}

/// An agent that may call.
pub(crate) fn agent() -> Caller {
    keyed("agent", AGENTS.get().expect("a house").0, Scope::Call)
}

/// Another one.
pub(crate) fn other_agent() -> Caller {
    keyed("other", AGENTS.get().expect("a house").1, Scope::Call)
}

/// One without a key.
pub(crate) fn keyless(client: &str) -> Caller {
    Caller::covering(Actor { key: None, client: client.to_owned() }, Scopes::of([Scope::Call]))
}
