//! Owners that are lost before and after they took an action, and folders whose owner cannot be found.

use bailiwick_types::ErrorCode;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixListener;

use super::{Stage, alone, call, list, refused, remove};
use crate::owner::Ownership;
use crate::owner::frame::{Frames, encode};
use crate::owner::message::{FromClient, FromOwner, Hello};
use crate::owner::socket::{self, Named};
use crate::{Action, Desk, Refusal, Reply};

/// When an owner is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Before it greets.
    BeforeHello,
    /// When it read the ask.
    BeforeTaken,
    /// When it said that it took it.
    AfterTaken,
}

/// An owner by hand.
struct Fake {
    listener: UnixListener,
    named: Named,
    ownership: Ownership,
}

impl Fake {
    fn of(stage: &Stage) -> Self {
        let ownership = stage.folder().lock().unwrap().unwrap();
        let (listener, named) = socket::listen(&ownership).unwrap();
        Self { listener, named, ownership }
    }

    /// Serves one client so far, and is gone with everything it has.
    async fn lost(self, when: When) {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        if when != When::BeforeHello {
            let (read, mut write) = stream.split();
            write.write_all(&encode(&Hello::ours()).unwrap()).await.unwrap();
            let ask = Frames::new(read).next::<FromClient>().await.unwrap();
            let Some(FromClient::Ask { id, .. }) = ask else { panic!("{ask:?}") };
            if when == When::AfterTaken {
                write.write_all(&encode(&FromOwner::Taken { id }).unwrap()).await.unwrap();
            }
        }
        let Self { listener, named, ownership } = self;
        drop((listener, stream, named, ownership));
    }
}

/// Asks at a desk whose owner is lost, and gives what comes and the desk.
async fn ask(stage: &Stage, when: When, action: Action) -> (Result<Reply, Refusal>, Desk) {
    let asks = async {
        let desk = stage.desk().await;
        let reply = desk.perform(alone(), action).await;
        (reply, desk)
    };
    tokio::join!(asks, Fake::of(stage).lost(when)).0
}

#[tokio::test]
async fn what_was_not_taken_is_asked_again_and_what_was_taken_is_not() {
    for when in [When::BeforeHello, When::BeforeTaken, When::AfterTaken] {
        for action in [list(), call("echo"), remove()] {
            let stage = Stage::new();
            stage.go_on();
            let begun = format!("begin {}", action.name());
            let is_repeated = when != When::AfterTaken || action == list();
            let (reply, desk) = ask(&stage, when, action).await;
            if is_repeated {
                reply.unwrap_or_else(|refusal| panic!("{when:?}, {begun}: {refusal:?}"));
                assert_eq!(stage.book.count(&begun), 1, "{when:?}");
            } else {
                let says = "the process that owns the data folder ended while it worked on this; whether it was \
                            done is on the record";
                let refusal = refused(reply, ErrorCode::Unavailable, says);
                assert_eq!(refusal.hint.as_deref(), Some("bailiwick audit tail"));
                assert_eq!(stage.book.count(&begun), 0, "{when:?}");
            }
            desk.perform(alone(), list()).await.expect("the desk goes on");
            assert!(desk.is_owner(), "the lock was free");
        }
    }
}

#[tokio::test]
async fn what_is_said_before_an_end_is_heard() {
    let stage = Stage::new();
    let Fake { listener, named, ownership } = Fake::of(&stage);
    let serves = async {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        write.write_all(&encode(&Hello::ours()).unwrap()).await.unwrap();
        let mut frames = Frames::new(read);
        frames.next::<FromClient>().await.unwrap().expect("an ask");
        let done = FromOwner::Done { id: 1, result: Box::new(Ok(Reply::Done)) };
        for message in [FromOwner::Taken { id: 1 }, done] {
            write.write_all(&encode(&message).unwrap()).await.unwrap();
        }
        // With something unread on this side the other one gets an error, behind what was said.
        drop((frames, write, listener, named, ownership));
    };
    let asks = async { stage.desk().await.perform(alone(), call("echo")).await };
    assert_eq!(tokio::join!(asks, serves).0, Ok(Reply::Done));
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_is_locked_by_somebody_who_does_not_listen_is_given_up_in_ten_seconds() {
    let stage = Stage::new();
    let _ownership = stage.folder().lock().unwrap().unwrap();
    let begin = tokio::time::Instant::now();
    let refusal = Desk::open(stage.clone()).await.expect_err("nobody listens");
    let pid = std::process::id();
    let refusal = refused(Err(refusal), ErrorCode::Unavailable, &format!("owned by process {pid}"));
    assert!(refusal.hint.unwrap().contains(&pid.to_string()));
    assert!((9..=10).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn an_owner_that_is_starting_is_waited_for() {
    let stage = Stage::new();
    let ownership = stage.folder().lock().unwrap().unwrap();
    let opens = stage.desk();
    let starts = async {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        let (book, go_on) = (stage.book.clone(), stage.go_on.clone());
        let script = super::Script { book, go_on, _ownership: ownership.clone() };
        crate::owner::Server::start(std::sync::Arc::new(script), ownership).unwrap()
    };
    let (desk, server) = tokio::join!(opens, starts);
    assert!(!desk.is_owner());
    desk.perform(alone(), list()).await.unwrap();
    server.close().await.unwrap();
}

#[tokio::test]
async fn owners_that_end_one_after_another_are_asked_a_bounded_number_of_times() {
    let stage = Stage::new();
    let ownership = stage.folder().lock().unwrap().unwrap();
    let (listener, _named) = socket::listen(&ownership).unwrap();
    let mut asked = 0;
    let serves = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(&encode(&Hello::ours()).unwrap()).await.unwrap();
            Frames::new(&mut stream).next::<FromClient>().await.unwrap();
            asked += 1;
        }
    };
    let asks = async { stage.desk().await.perform(alone(), list()).await };
    tokio::select! {
        reply = asks => drop(refused(reply, ErrorCode::Unavailable, "ended one after another")),
        () = serves => {}
    }
    assert_eq!(asked, 8);
}
