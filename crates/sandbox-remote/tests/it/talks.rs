//! Commands at a server that breaks the rules while they run: each ends with a clear error, and nothing is kept without a bound.

use bailiwick_sandbox::{Available, Backend as _, Command, Exit, Sandbox, SandboxSpec};
use bailiwick_types::ErrorCode;
use tokio_tungstenite::tungstenite::Message;

use crate::stage::{Answer, Stage, block_on, result};

/// A sandbox at a server whose commands are answered like this; the one of the look is answered well.
async fn sandbox(answer: Answer) -> (Stage, Box<dyn Sandbox>) {
    let is_looked_at = std::sync::atomic::AtomicBool::new(false);
    let stage = Stage::new(move |request| {
        let looks = request.is_a_talk() && !is_looked_at.swap(true, std::sync::atomic::Ordering::SeqCst);
        (request.is_a_talk() && !looks).then(|| answer.clone())
    })
    .await;
    let backend = stage.backend();
    assert_eq!(backend.probe().await.availability, Available::Yes);
    let sandbox = backend.create(SandboxSpec::default()).await.expect("a sandbox");
    (stage, sandbox)
}

async fn check(answer: Answer, says: &str) {
    let (stage, sandbox) = sandbox(answer).await;
    let error =
        sandbox.exec(Command::new(["true"]).expect("a command")).await.expect_err("it breaks the rules");
    assert_eq!(error.code(), ErrorCode::Unavailable, "{error}");
    assert!(error.to_string().contains(says), "{says}: {error}");
    assert_eq!(
        stage.asked().iter().filter(|request| request.is_a_talk()).count(),
        2,
        "nothing is sent again"
    );
}

#[test]
fn a_server_that_breaks_the_rules_is_let_go() {
    block_on(async {
        check(Answer::Talk(vec![Message::text("hello")]), "not understood").await;
        check(Answer::Talk(vec![Message::text("{\"result\": {\"exitCode\": 0}}")]), "not understood").await;
        check(Answer::Talk(vec![Message::binary(&b"\x09x"[..])]), "of no stream").await;
        check(Answer::Talk(vec![Message::binary(&b""[..])]), "of no stream").await;
        check(Answer::Talk(vec![Message::Close(None)]), "closed before the command ended").await;
        check(Answer::Talk(vec![Message::binary(vec![1; (4 << 20) + 1])]), "not understood").await;
        check(Answer::Talk(vec![Message::text("x".repeat((4 << 20) + 1))]), "not understood").await;
        let wrong = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
        check(Answer::Raw(wrong.to_owned()), "not understood").await;
        check(Answer::Raw("HTTP/1.1 101 ".to_owned()), "not understood").await;
    });
}

#[test]
fn a_flood_that_nobody_let_in_is_cut_off() {
    block_on(async {
        let (_stage, sandbox) = sandbox(Answer::TalkForEver(Message::binary(vec![1; 32 << 10]))).await;
        // Nobody reads what it says.
        let running = sandbox.spawn(Command::new(["true"]).expect("a command")).await.expect("it begins");
        let mut output = running.output;
        let ended = running.ended;
        tokio::pin!(ended);
        let mut pieces = 0;
        let error = loop {
            tokio::select! {
                biased;
                ended = &mut ended => break ended.expect("told").expect_err("it floods"),
                // Slower than it comes.
                Some(_) = output.recv() => {
                    pieces += 1;
                    for _ in 0..100 {
                        tokio::task::yield_now().await;
                    }
                }
            }
        };
        assert!(error.to_string().contains("says more than it was let"), "{error}");
        assert!(pieces < 10_000, "{pieces}");
    });
}

#[test]
fn what_was_said_is_there_before_the_end_is_told() {
    block_on(async {
        let said = Message::binary(&b"\x02no"[..]);
        let (_stage, sandbox) = sandbox(Answer::Talk(vec![said, result()])).await;
        let ran = sandbox.exec(Command::new(["true"]).expect("a command")).await.expect("it ran");
        assert_eq!((ran.exit, &ran.stderr.bytes[..]), (Exit::Code(0), &b"no"[..]));
    });
}
