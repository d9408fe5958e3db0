//! Two ways to ask an owner: by commands of the program, and by a desk in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_core::{
    Action, Actor, Boxed, Caller, Desk, Document, Opens, Ownership, Performs, Reasons, Refusal, Reply,
};
use bailiwick_testkit::Program;
use bailiwick_types::{CorrelationId, ErrorCode};

use super::chance::Chance;
use super::ledger::{Ledger, Wish, document};

/// What is said to whoever cannot know whether it was done.
const IN_DOUBT: &str = "is on the record";
/// What the desk here says in place of becoming the owner.
const NOT_AN_OWNER: &str = "this client only asks";

/// Asks by commands until it is told to stop, or loses its owner.
pub(super) fn by_commands(program: &Program, ledger: &mut Ledger, mut chance: Chance, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let wish = ledger.wish(&mut chance, 1);
        let words = words(program, ledger.tool, &wish);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ledger.begins(&wish);
        let run = program.run(&words);
        told(ledger, &wish, run.code, &run.stdout, &run.stderr);
        if run.code != Some(0) {
            return;
        }
    }
}

/// The words of a command, and its document where it needs one.
pub(super) fn words(program: &Program, tool: &str, wish: &Wish) -> Vec<String> {
    let words: Vec<&str> = match wish {
        Wish::Import(edition) => vec!["tool", "import", written(program, tool, *edition)],
        Wish::Publish(edition) => vec!["tool", "publish", written(program, tool, *edition)],
        Wish::Unpublish => vec!["tool", "unpublish", tool],
        Wish::Call(correlations) => {
            assert_eq!(correlations.len(), 1, "a command calls once");
            vec!["tool", "call", tool, "--correlation", &correlations[0]]
        }
    };
    words.into_iter().map(str::to_owned).collect()
}

/// Notes what a command said.
pub(super) fn told(ledger: &mut Ledger, wish: &Wish, code: Option<i32>, stdout: &str, stderr: &str) {
    match code {
        Some(0) => {}
        // Killed, or its owner was.
        None => return,
        Some(_) => {
            assert!(stderr.contains(IN_DOUBT), "{wish:?} of {}: {code:?} {stdout} {stderr}", ledger.tool);
            return;
        }
    }
    if let Wish::Call(correlations) = wish {
        let edition = ledger.sure.map(|standing| standing.edition.to_string());
        assert_eq!(Some(stdout.trim()), edition.as_deref(), "{wish:?} of {}", ledger.tool);
        ledger.call_done(&correlations[0]);
    }
    ledger.done(wish);
}

#[expect(clippy::disallowed_methods, reason = "a document in the test's own folder")]
fn written(program: &Program, tool: &str, edition: u64) -> &'static str {
    let (name, short) = match tool {
        "first" => ("first.tool.yaml", "./first.tool.yaml"),
        _ => ("second.tool.yaml", "./second.tool.yaml"),
    };
    std::fs::write(program.working_folder().join(name), document(tool, edition)).unwrap();
    short
}

/// Where the program keeps its data by default.
pub(super) fn data(program: &Program) -> PathBuf {
    program.home().join(".local/share/bailiwick")
}

/// Never owns a folder: refuses when it could.
struct OnlyAsks(PathBuf);

impl Opens for OnlyAsks {
    fn data(&self) -> &Path {
        &self.0
    }

    fn open(self: Box<Self>, _ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async { Err(Refusal::new(ErrorCode::Unavailable, NOT_AN_OWNER)) })
    }
}

/// A desk at the owner of the program's data.
pub(super) struct AtDesk {
    events: tokio::runtime::Runtime,
    desk: Desk,
}

impl AtDesk {
    pub(super) fn open(program: &Program) -> Self {
        let events = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let desk = events.block_on(Desk::open(OnlyAsks(data(program)))).unwrap();
        Self { events, desk }
    }

    /// Asks for one action.
    pub(super) fn ask(&self, action: Action) -> Result<Reply, Refusal> {
        self.events.block_on(self.desk.perform(caller(), action))
    }

    /// Asks until it is told to stop, or loses its owner.
    pub(super) fn work(&self, ledger: &mut Ledger, mut chance: Chance, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let wish = ledger.wish(&mut chance, 4);
            ledger.begins(&wish);
            let is_done = match &wish {
                Wish::Call(correlations) => self.call(ledger, correlations),
                Wish::Import(edition) => {
                    let documents = vec![named(ledger.tool, *edition)];
                    is_done(&self.ask(Action::ToolImport { documents, approval_off: false }))
                }
                Wish::Publish(edition) => is_done(&self.ask(Action::ToolPublishDocument {
                    document: named(ledger.tool, *edition),
                    reasons: Reasons::default(),
                    approval_off: false,
                })),
                Wish::Unpublish => is_done(&self.ask(Action::ToolUnpublish { tool: ledger.tool.to_owned() })),
            };
            if !is_done {
                return;
            }
            ledger.done(&wish);
        }
    }

    /// Calls several times at once; whether all calls had an end.
    fn call(&self, ledger: &mut Ledger, correlations: &[String]) -> bool {
        let edition = ledger.sure.map(|standing| standing.edition);
        let ended = self.events.block_on(async {
            let asked = correlations.iter().map(|correlation| {
                let correlation = Some(CorrelationId::parse(correlation).unwrap());
                let (tool, arguments) = (ledger.tool.to_owned(), serde_json::Map::new());
                self.desk
                    .perform(caller(), Action::ToolCall { tool, arguments, correlation, workspace: None })
            });
            let mut ended = Vec::new();
            let mut asked: Vec<_> = asked.map(Box::pin).collect();
            std::future::poll_fn(|context| {
                asked.retain_mut(|one| match one.as_mut().poll(context) {
                    std::task::Poll::Ready(reply) => {
                        ended.push(reply);
                        false
                    }
                    std::task::Poll::Pending => true,
                });
                if asked.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
            ended
        });
        for reply in &ended {
            if !is_done(reply) {
                continue;
            }
            let Ok(Reply::Called(report)) = reply else { panic!("{reply:?}") };
            assert_eq!(report.value().as_u64(), edition, "{:?}", report.failure());
            ledger.call_done(report.correlation_id().as_str());
        }
        ended.iter().all(Result::is_ok)
    }
}

fn caller() -> Caller {
    Caller::alone(Actor { key: None, client: "test".to_owned() })
}

fn named(tool: &str, edition: u64) -> Document {
    Document { name: format!("{tool}.tool.yaml"), text: document(tool, edition) }
}

/// Whether it was done; a refusal must be one of those that a lost owner explains.
fn is_done(reply: &Result<Reply, Refusal>) -> bool {
    let Err(refusal) = reply else { return true };
    let message = &refusal.message;
    assert!(message.contains(IN_DOUBT) || message == NOT_AN_OWNER, "{refusal:?}");
    false
}
