//! Clients that send what they should not, and owners that are not what they should be.

use bailiwick_types::{ErrorCode, Scopes};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::{Stage, alone, call, list, refused};
use crate::owner::frame::{Frames, encode};
use crate::owner::message::{FromClient, FromOwner, Hello, PROTOCOL};
use crate::owner::socket;
use crate::{Action, Desk, Origin};

/// A client that says whatever a test wants.
pub(super) struct Raw {
    pub(super) write: OwnedWriteHalf,
    pub(super) frames: Frames<OwnedReadHalf>,
}

impl Raw {
    /// Connects, and does not wait for the greeting.
    pub(super) async fn connect(stage: &Stage) -> Self {
        let (read, write) = UnixStream::connect(stage.data.join("owner.sock")).await.unwrap().into_split();
        Self { write, frames: Frames::new(read) }
    }

    /// Connects, and is greeted.
    pub(super) async fn greeted(stage: &Stage) -> Self {
        let mut raw = Self::connect(stage).await;
        assert_eq!(raw.frames.next::<Hello>().await.unwrap(), Some(Hello::ours()));
        raw
    }

    pub(super) async fn ask(&mut self, id: u64, action: Action) {
        self.ask_within(id, Scopes::ALL, action).await;
    }

    /// Asks as somebody who wants to be held to some scopes.
    pub(super) async fn ask_within(&mut self, id: u64, scopes: Scopes, action: Action) {
        let (actor_client, action) = ("raw".to_owned(), Box::new(action));
        let ask = FromClient::Ask { id, actor_client, scopes, origin: Origin::Wire, action };
        self.write.write_all(&encode(&ask).unwrap()).await.unwrap();
    }

    pub(super) async fn hear(&mut self) -> Option<FromOwner> {
        self.frames.next().await.unwrap()
    }
}

#[tokio::test]
async fn what_is_no_message_ends_its_connection_with_a_word_and_nothing_else() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    let call = r#"{"action":"toolCall","tool":"t","correlation":null,"arguments":{"a":DEEP}}"#;
    let deep =
        format!(r#"{{"ask":{{"id":1,"actorClient":"","scopes":[],"origin":"wire","action":{call}}}}}"#)
            .replace("DEEP", &format!("{open}{close}"));
    let framed = |text: &str| [&u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
    let action = Box::new(list());
    let twice = encode(&FromClient::Ask {
        id: 0,
        actor_client: String::new(),
        scopes: Scopes::ALL,
        origin: Origin::Wire,
        action,
    })
    .unwrap();
    let cases: [(&str, Vec<u8>, &str); 7] = [
        ("garbage", b"\x00\x00\x00\x04\xde\xad\xbe\xef".to_vec(), "not one"),
        ("another protocol", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), "longer than"),
        ("4 GiB", vec![0xff; 4], "4294967295 bytes is longer than"),
        ("nesting", framed(&deep), "recursion limit"),
        ("an unknown word", framed("{\"own\": {}}"), "unknown variant"),
        (
            "an unknown action",
            framed("{\"ask\":{\"id\":1,\"actorClient\":\"\",\"scopes\":[],\"action\":{\"action\":\"x\"}}}"),
            "unknown variant",
        ),
        ("a number that does not ascend", twice, "do not ascend"),
    ];
    for (what, bytes, says) in cases {
        let mut raw = Raw::greeted(&stage).await;
        raw.write.write_all(&bytes).await.unwrap();
        let Some(FromOwner::Bye { refusal }) = raw.hear().await else { panic!("{what}: no farewell") };
        refused(Err(refusal), ErrorCode::InvalidInput, says);
        assert_eq!(raw.frames.next::<FromOwner>().await.ok().flatten(), None, "{what}: nothing follows");
        client.perform(alone(), list()).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_ends_within_a_message_is_one_that_is_gone() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let mut raw = Raw::greeted(&stage).await;
    raw.ask(1, call("wait")).await;
    stage.book.happens("begin tool.call").await;
    let half = encode(&FromClient::Cancel { id: 1 }).unwrap();
    raw.write.write_all(&half[..half.len() / 2]).await.unwrap();
    raw.write.shutdown().await.unwrap();
    stage.book.happens("dropped").await;
    client.perform(alone(), list()).await.unwrap();
}

#[tokio::test]
async fn answers_and_cancellations_of_what_is_not_there_are_nothing() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let mut raw = Raw::greeted(&stage).await;
    for message in [
        FromClient::Answer { id: 7, n: 7, answer: crate::Answer::Yes { by: "me".to_owned() } },
        FromClient::Cancel { id: 7 },
    ] {
        raw.write.write_all(&encode(&message).unwrap()).await.unwrap();
    }
    raw.ask(8, list()).await;
    assert_eq!(raw.hear().await, Some(FromOwner::Taken { id: 8 }));
    assert!(matches!(raw.hear().await, Some(FromOwner::Done { id: 8, .. })));
}

#[tokio::test]
async fn a_client_that_is_gone_answers_nobody() {
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let mut raw = Raw::greeted(&stage).await;
    raw.ask(1, call("ask")).await;
    assert_eq!(raw.hear().await, Some(FromOwner::Taken { id: 1 }));
    assert!(matches!(raw.hear().await, Some(FromOwner::Question { id: 1, .. })));
    let questions = crate::owner::questions::Questions::new({
        let (one, _other) = UnixStream::pair().unwrap();
        let (_, write) = one.into_split();
        crate::owner::outbox::Outbox::start(write).0
    });
    let remote = questions.remote(1);
    let asked = crate::Approver::ask(&remote, super::question(&super::actor("a")));
    let ends = async { questions.end() };
    assert_eq!(tokio::join!(asked, ends).0, super::nobody());
    let later = crate::Approver::ask(&remote, super::question(&super::actor("a")));
    assert_eq!(later.await, super::nobody(), "also who asks afterwards");
}

/// Opens a desk on a folder whose owner sends these bytes to whoever connects.
async fn open_at(bytes: Vec<u8>) -> crate::Refusal {
    let stage = Stage::new();
    let ownership = stage.folder().lock().unwrap().unwrap();
    let (listener, _named) = socket::listen(&ownership).unwrap();
    let serves = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        opened = Desk::open(stage.clone()) => opened.expect_err("no desk"),
        () = serves => unreachable!("it serves for ever"),
    }
}

#[tokio::test]
async fn an_owner_of_another_protocol_is_named() {
    let hello = Hello { protocol: PROTOCOL + 1, version: "9.8.7".to_owned(), pid: 4321 };
    let refusal = open_at(encode(&hello).unwrap()).await;
    let says = format!("owned by bailiwick 9.8.7 (process 4321), which speaks protocol {}", PROTOCOL + 1);
    let refusal = refused(Err(refusal), ErrorCode::Unavailable, &says);
    assert_eq!(refusal.hint.unwrap(), "use that version, or end process 4321 first");
    // Whatever else a later version says in its greeting.
    let more = json!({"protocol": 77, "version": "10", "pid": 1, "features": ["x"]});
    refused(Err(open_at(encode(&more).unwrap()).await), ErrorCode::Unavailable, "protocol 77");
}

#[tokio::test]
async fn what_does_not_greet_like_an_owner_is_none() {
    for bytes in [encode(&json!("hello")).unwrap(), vec![0xff; 4]] {
        refused(Err(open_at(bytes).await), ErrorCode::Unavailable, "not understood");
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_never_greets_is_waited_for_ten_seconds() {
    let begin = tokio::time::Instant::now();
    let refusal = refused(Err(open_at(Vec::new()).await), ErrorCode::Unavailable, "it does not greet");
    assert!(refusal.message.contains(&format!("process {}", std::process::id())), "{refusal:?}");
    assert_eq!(begin.elapsed().as_secs(), 10);
}
