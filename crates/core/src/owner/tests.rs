//! The stage of the owner's tests: a data folder, somebody who performs by a script, and a book of what happened.

mod closing;
mod flood;
mod frames;
mod hostile;
mod locks;
mod lost;
mod narrowed;
mod processes;
mod streams;
mod talking;
mod with_core;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{Chunk, Input, Stream};
use bailiwick_types::{CorrelationId, ErrorCode, LogLevel, LogLine, Risk, RiskLevel};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};

use super::performs::{Boxed, Opens, Performs};
use super::{Folder, Ownership};
use crate::{Action, Actor, Answer, Caller, Desk, Event, Question, Refusal, Reply};

/// What happened, in order.
#[derive(Debug, Clone)]
struct Book(Arc<watch::Sender<Vec<String>>>);

impl Book {
    fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Vec::new())))
    }

    fn write(&self, entry: impl Into<String>) {
        self.0.send_modify(|entries| entries.push(entry.into()));
    }

    fn entries(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    fn count(&self, entry: &str) -> usize {
        self.0.borrow().iter().filter(|one| *one == entry).count()
    }

    /// Waits until something happened.
    #[track_caller]
    fn happens(&self, entry: &str) -> impl Future<Output = ()> + use<> {
        let (mut entries, entry) = (self.0.subscribe(), entry.to_owned());
        async move {
            let happened = entries.wait_for(|entries| entries.contains(&entry));
            let happened = tokio::time::timeout(Duration::from_secs(20), happened).await;
            assert!(matches!(happened, Ok(Ok(_))), "`{entry}` did not happen");
        }
    }
}

/// Performs by a script: what a tool's name says is what its call does.
struct Script {
    book: Book,
    /// A permit lets one action that waits go on.
    go_on: Arc<Semaphore>,
    _ownership: Ownership,
}

/// Writes a line when it is dropped before it was told to keep quiet.
struct Alarm(Book, bool);

impl Drop for Alarm {
    fn drop(&mut self) {
        if self.1 {
            self.0.write("dropped");
        }
    }
}

impl Performs for Script {
    fn perform(&self, caller: Caller, action: Action) -> Boxed<Result<Reply, Refusal>> {
        let (book, go_on) = (self.book.clone(), self.go_on.clone());
        Box::pin(async move {
            book.write(format!("begin {}", action.name()));
            match action {
                Action::ToolList { .. } => Ok(Reply::Tools(Vec::new())),
                Action::Under => {
                    let said = tokio::time::timeout(Duration::from_millis(100), caller.talk.input()).await;
                    if let Ok(Some(_)) = said {
                        book.write("lost input");
                    }
                    Ok(Reply::Under("settings".to_owned()))
                }
                Action::AuditTail { .. } => Ok(Reply::Records(vec![json!(caller.actor.client)])),
                Action::ToolCall { tool, arguments, .. } => match tool.as_str() {
                    "panic" => panic!("on purpose"),
                    "wait" => {
                        let mut alarm = Alarm(book.clone(), true);
                        caller.listener.hear(Event::Progress { done: 0, of: None });
                        go_on.acquire().await.unwrap().forget();
                        alarm.1 = false;
                        book.write("end tool.call");
                        Ok(Reply::Done)
                    }
                    "talk" => {
                        let text = "x".repeat(arguments["length"].as_u64().unwrap().try_into().unwrap());
                        for at in 0..arguments["lines"].as_u64().unwrap() {
                            let line = LogLine { level: LogLevel::Log, text: text.clone(), at };
                            caller.listener.hear(Event::Log(line));
                        }
                        book.write("talked");
                        Ok(Reply::Done)
                    }
                    "ask" => {
                        let answer = caller.approver.ask(question(&caller.actor)).await;
                        book.write(format!("{answer:?}"));
                        Ok(Reply::Records(vec![json!(format!("{answer:?}"))]))
                    }
                    "ask briefly" => {
                        let answer = caller.approver.ask(question(&caller.actor));
                        let answer = tokio::time::timeout(Duration::from_millis(20), answer).await;
                        assert!(answer.is_err(), "{answer:?}");
                        go_on.acquire().await.unwrap().forget();
                        Ok(Reply::Done)
                    }
                    "repeat" => {
                        let mut bytes = 0;
                        while let Some(Input::Bytes(piece)) = caller.talk.input().await {
                            bytes += piece.len();
                            caller.talk.output(Chunk { stream: Stream::Stdout, bytes: piece }).await;
                        }
                        Ok(Reply::Records(vec![json!(bytes)]))
                    }
                    "flood" => {
                        let saying = async {
                            for said in 1..=1000 {
                                let bytes = bytes::Bytes::from(vec![b'x'; 1 << 10]);
                                caller.talk.output(Chunk { stream: Stream::Stdout, bytes }).await;
                                book.write(format!("said {said} KiB"));
                            }
                        };
                        tokio::select! {
                            () = saying => {}
                            told = caller.talk.urgent() => {
                                if let Some(told) = told {
                                    book.write(format!("told {told:?}"));
                                }
                            }
                        }
                        Ok(Reply::Done)
                    }
                    "scopes" => Ok(Reply::Records(vec![json!(caller.scopes)])),
                    "echo" => Ok(Reply::Records(vec![Value::Object(arguments)])),
                    "huge" => Ok(Reply::Records(vec![json!("x".repeat(super::frame::MOST_BYTES))])),
                    other => Err(Refusal::new(ErrorCode::NotFound, format!("no tool {other}"))),
                },
                Action::ToolRemove { .. } => {
                    go_on.acquire().await.unwrap().forget();
                    book.write("end tool.remove");
                    Ok(Reply::Done)
                }
                other => Err(Refusal::new(ErrorCode::Unsupported, other.name())),
            }
        })
    }

    fn close(&self) -> Boxed<Result<(), Refusal>> {
        let book = self.book.clone();
        Box::pin(async move {
            book.write("close");
            Ok(())
        })
    }
}

fn question(actor: &Actor) -> Question {
    Question {
        tool: "ask".to_owned(),
        hash: None,
        prompt: None,
        risk: Risk { level: RiskLevel::L4, credited: None, reasons: Vec::new() },
        code: None,
        workspace: None,
        arguments: Value::Null,
        actor: actor.clone(),
        correlation_id: CorrelationId::parse("test").unwrap(),
        effect: None,
        policy_hash: String::new(),
        call_id: bailiwick_types::CallId::from_parts(0, &[0; 10]),
        deadline_ms: 1000,
    }
}

/// A data folder and who would perform there.
#[derive(Debug, Clone)]
struct Stage {
    data: PathBuf,
    book: Book,
    go_on: Arc<Semaphore>,
    around: Arc<tempfile::TempDir>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        Self { data, book: Book::new(), go_on: Arc::new(Semaphore::new(0)), around: Arc::new(folder) }
    }

    /// The same folder, with a book of its own.
    fn beside(&self) -> Self {
        Self { book: Book::new(), ..self.clone() }
    }

    fn folder(&self) -> Folder {
        Folder::hold(&self.data).unwrap()
    }

    async fn desk(&self) -> Desk {
        Desk::open(self.clone()).await.unwrap()
    }

    /// Lets one action that waits go on.
    fn go_on(&self) {
        self.go_on.add_permits(1);
    }
}

impl Opens for Stage {
    fn data(&self) -> &Path {
        &self.data
    }

    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async move {
            self.book.write("open");
            let (book, go_on) = (self.book.clone(), self.go_on.clone());
            Ok(Arc::new(Script { book, go_on, _ownership: ownership }) as Arc<dyn Performs>)
        })
    }
}

fn actor(client: &str) -> Actor {
    Actor { key: None, client: client.to_owned() }
}

fn alone() -> Caller {
    Caller::alone(actor("test"))
}

fn list() -> Action {
    Action::ToolList { after: None, limit: 10 }
}

fn tail() -> Action {
    Action::AuditTail { limit: 1 }
}

fn remove() -> Action {
    Action::ToolRemove { tool: "t".to_owned() }
}

fn call(tool: &str) -> Action {
    call_with(tool, json!({}))
}

fn call_with(tool: &str, arguments: Value) -> Action {
    let Value::Object(arguments) = arguments else { panic!("an object is needed") };
    let arguments: Map<String, Value> = arguments;
    Action::ToolCall { tool: tool.to_owned(), arguments, correlation: None, workspace: None }
}

fn nobody() -> Answer {
    Answer::Nobody
}

#[track_caller]
fn refused(result: Result<Reply, Refusal>, code: ErrorCode, says: &str) -> Refusal {
    let refusal = result.expect_err("a refusal");
    assert_eq!(refusal.code, code, "{refusal:?}");
    assert!(refusal.message.contains(says), "{refusal:?} does not say {says:?}");
    refusal
}
