//! Commands that are talked with over the socket: in order, within a credit, and past input that nobody reads.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bailiwick_sandbox::{Chunk, Input, Stream};
use bytes::Bytes;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Semaphore, mpsc};

use super::hostile::Raw;
use super::{Stage, alone, call, call_with};
use crate::owner::frame::encode;
use crate::owner::message::{FromClient, FromOwner};
use crate::owner::streams::{Packed, Told};
use crate::{Boxed, Caller, Desk, Opens, Ownership, Performs, Refusal, Reply, Talk};

/// Somebody who says what they are given, and hears as fast as they are let.
struct Speaks {
    input: tokio::sync::Mutex<mpsc::Receiver<Input>>,
    urgent: tokio::sync::Mutex<mpsc::Receiver<Input>>,
    heard: std::sync::Mutex<Vec<u8>>,
    /// A permit for each piece that may be taken.
    takes: Semaphore,
}

impl Speaks {
    fn new(takes: usize) -> (Arc<Self>, mpsc::Sender<Input>, mpsc::Sender<Input>) {
        let (to, input) = mpsc::channel(64);
        let (hurry, urgent) = mpsc::channel(64);
        let speaks = Self {
            input: tokio::sync::Mutex::new(input),
            urgent: tokio::sync::Mutex::new(urgent),
            heard: std::sync::Mutex::default(),
            takes: Semaphore::new(takes),
        };
        (Arc::new(speaks), to, hurry)
    }

    fn heard(&self) -> Vec<u8> {
        self.heard.lock().unwrap().clone()
    }
}

impl Talk for Speaks {
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            self.takes.acquire().await.unwrap().forget();
            self.heard.lock().unwrap().extend_from_slice(&chunk.bytes);
        })
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async { self.input.lock().await.recv().await })
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async { self.urgent.lock().await.recv().await })
    }
}

#[tokio::test]
async fn what_is_said_to_a_command_comes_back_in_order() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let (speaks, to, _hurry) = Speaks::new(Semaphore::MAX_PERMITS);
    let caller = Caller { talk: speaks.clone(), ..alone() };
    let said: Vec<u8> = (0..3_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let all = Bytes::from(said.clone());
    let telling = async {
        for piece in all.chunks(100_000) {
            to.send(Input::Bytes(Bytes::copy_from_slice(piece))).await.unwrap();
        }
        to.send(Input::End).await.unwrap();
    };
    let (reply, ()) = tokio::join!(client.perform(caller, call("repeat")), telling);
    assert_eq!(reply.unwrap(), Reply::Records(vec![json!(3_000_000)]));
    assert!(speaks.heard() == said, "{} bytes came back", speaks.heard().len());
}

/// A desk that asks an owner for its settings first, as every real one does.
struct Governed(Stage);

impl Opens for Governed {
    fn data(&self) -> &Path {
        self.0.data()
    }

    fn under(&self) -> Option<String> {
        Some("settings".to_owned())
    }

    fn open(self: Box<Self>, ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::new(self.0).open(ownership)
    }
}

#[tokio::test]
async fn nothing_that_is_said_gets_lost_in_the_question_for_settings() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = Desk::open(Governed(stage.clone())).await.unwrap();
    let (speaks, to, _hurry) = Speaks::new(Semaphore::MAX_PERMITS);
    let caller = Caller { talk: speaks.clone(), ..alone() };
    for piece in [Input::Bytes(Bytes::from_static(b"said at once")), Input::End] {
        to.send(piece).await.unwrap();
    }
    client.perform(caller, call("repeat")).await.unwrap();
    assert_eq!(speaks.heard(), b"said at once");
    assert_eq!(stage.book.count("lost input"), 0);
}

#[tokio::test]
async fn a_client_that_takes_nothing_holds_the_command_up_and_not_memory() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let (speaks, _to, hurry) = Speaks::new(0);
    let caller = Caller { talk: speaks.clone(), ..alone() };
    let asked = tokio::spawn(async move { client.perform(caller, call_with("flood", json!({}))).await });
    stage.book.happens("said 256 KiB").await;
    // The word gets there although nothing is taken, and the command tells how far it came.
    hurry.send(Input::Kill).await.unwrap();
    stage.book.happens("told Kill").await;
    assert_eq!(stage.book.count("said 257 KiB"), 0, "no more than the credit is said");
    speaks.takes.add_permits(1000);
    assert_eq!(asked.await.unwrap().unwrap(), Reply::Done);
}

#[tokio::test]
async fn a_client_that_says_more_than_its_credit_is_cut_off() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let mut raw = Raw::greeted(&stage).await;
    raw.ask(1, call("wait")).await;
    assert_eq!(raw.hear().await, Some(FromOwner::Taken { id: 1 }));
    let told = Told::Bytes(Packed(Bytes::from(vec![0; 40 << 10])));
    let message = encode(&FromClient::Told { id: 1, told }).unwrap();
    for _ in 0..7 {
        raw.write.write_all(&message).await.unwrap();
    }
    let farewell = loop {
        match raw.hear().await {
            Some(FromOwner::Bye { refusal }) => break refusal,
            Some(_) => {}
            None => panic!("no word"),
        }
    };
    assert!(farewell.message.contains("more to a command than there is room for"), "{farewell:?}");
    stage.book.happens("dropped").await;
}

#[tokio::test]
async fn a_client_cannot_give_itself_more_credit() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let mut raw = Raw::greeted(&stage).await;
    raw.ask(1, call("flood")).await;
    let took = encode(&FromClient::Took { id: 1, bytes: usize::MAX }).unwrap();
    let mut heard = 0;
    while heard < 256 << 10 {
        if let Some(FromOwner::Output { stream: Stream::Stdout, bytes, .. }) = raw.hear().await {
            heard += bytes.0.len();
        }
    }
    raw.write.write_all(&took).await.unwrap();
    let mut more = 0;
    while more < 256 << 10 {
        if let Some(FromOwner::Output { bytes, .. }) = raw.hear().await {
            more += bytes.0.len();
        }
    }
    stage.book.happens("said 512 KiB").await;
    assert_eq!(stage.book.count("said 513 KiB"), 0);
}
