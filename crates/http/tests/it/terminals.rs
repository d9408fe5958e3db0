//! Terminals over a WebSocket, on a listener behind the perimeter: who gets one, what goes over it, and what ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bailiwick_core::sandboxes::{GivenInput, Stream, Target, Window};
use bailiwick_core::{Action, Caller, Chunk, Input, Refusal, Reply};
use bailiwick_http::perimeter::{KeyShown, Keyring, NotAKey};
use bailiwick_types::{ErrorCode, KeyId, Scope, Scopes};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json as object};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::replies;
use crate::schema::is_a;
use crate::stage::{Listening, Stage, block_on};
use crate::streams::Alarm;

bailiwick_testkit::tests!(
    a_terminal_carries_what_is_typed_and_shown_and_then_its_result,
    a_terminal_is_for_whoever_may_run_commands,
    a_page_of_somebody_else_gets_no_terminal,
    what_is_no_websocket_is_told_so,
    whoever_goes_away_ends_the_command,
    whoever_breaks_the_rules_is_told_and_the_command_ends,
    a_terminal_ends_with_the_key,
    a_terminal_ends_with_the_server,
    whoever_does_not_look_makes_the_command_wait,
    a_terminal_takes_its_place_for_as_long_as_it_lasts,
    three_streams_are_told_apart_and_counted,
    whoever_takes_nothing_of_a_stream_makes_the_command_wait_and_is_not_cut_off,
    what_is_to_be_run_may_be_longer_than_what_is_typed,
);

/// Longer than anything here counts; only a test that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_secs(30);
const AUTHOR: &str = "bwk_00000000000000000000000000000001_the-secret-part-of-a-good-key-0000000000000";
const CALLER: &str = "bwk_00000000000000000000000000000002_the-secret-part-of-a-call-key-0000000000000";

/// Knows two keys: one that may author, with room for one request at once, and one that only calls.
struct Ring;

impl Keyring for Ring {
    fn authenticate(&self, shown: &str) -> Result<KeyShown, NotAKey> {
        let (number, scope, at_once) = match shown {
            AUTHOR => (1, Scope::Author, Some(1)),
            CALLER => (2, Scope::Call, None),
            _ => return Err(NotAKey::Unknown),
        };
        Ok(KeyShown {
            id: KeyId::from_parts(1, &[number; 10]),
            name: "key".to_owned(),
            scopes: Scopes::of([scope]),
            expires_ms: None,
            per_second: None,
            at_once,
            dialogue: false,
        })
    }
}

type Socket = WebSocketStream<TcpStream>;

/// Commands by a script; everything around them as a core does it.
async fn stage<F>(run: impl Fn(Caller, Action) -> F + Clone + Send + Sync + 'static) -> Listening
where
    F: Future<Output = Result<Reply, Refusal>> + Send + 'static,
{
    let stage = Stage::script(move |caller, action| {
        let run = run.clone();
        Box::pin(async move {
            match &action {
                Action::SandboxShow { .. } if !caller.scopes.covers(Scope::Author) => {
                    Err(Refusal::new(ErrorCode::Forbidden, "not covered"))
                }
                Action::SandboxShow { sandbox } if sandbox == "one" => {
                    Ok(Reply::Sandbox(Box::new(replies::sandbox_view())))
                }
                Action::SandboxShow { .. } => {
                    Err(Refusal::new(ErrorCode::NotFound, "there is no such sandbox"))
                }
                Action::SandboxList => Ok(Reply::Sandboxes(Vec::new())),
                Action::Watch => std::future::pending().await,
                _ => run(caller, action).await,
            }
        })
    });
    stage.await.listen(Arc::new(Ring), |_| {})
}

/// Connects, with these headers.
async fn connect(listening: &Listening, uri: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
    let address = listening.address;
    let mut request = format!("ws://{address}{uri}").into_client_request().expect("a request");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().expect("a value"));
    }
    let stream = TcpStream::connect(address).await.expect("a connection");
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

async fn sit_down(listening: &Listening) -> Socket {
    let waits = async {
        loop {
            match connect(listening, "/v1/sandboxes/one/exec", &[("x-api-key", AUTHOR)]).await {
                Ok(socket) => return socket,
                // The place of the one before is given back a moment after its command ended.
                Err(429) => tokio::task::yield_now().await,
                Err(status) => panic!("{status}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.expect("there is room again")
}

async fn say(socket: &mut Socket, told: &Value) {
    socket.send(Message::text(told.to_string())).await.expect("sent");
}

fn start() -> Value {
    object!({"start": {"argv": ["sh"]}})
}

/// The next message that is not about the connection itself.
async fn next(socket: &mut Socket) -> Option<Message> {
    loop {
        let message = tokio::time::timeout(PATIENCE, socket.next()).await.expect("something happens")?;
        match message.ok()? {
            Message::Ping(_) | Message::Pong(_) => {}
            message => return Some(message),
        }
    }
}

/// The last words of a terminal, and the code it is closed with.
async fn last(socket: &mut Socket) -> (Value, CloseCode) {
    let words = loop {
        match next(socket).await.expect("last words") {
            Message::Text(text) => break serde_json::from_str(&text).expect("JSON"),
            Message::Binary(_) => {}
            other => panic!("{other:?}"),
        }
    };
    is_a("TerminalSaid", &words);
    match next(socket).await {
        Some(Message::Close(Some(frame))) => (words, frame.code),
        other => panic!("{other:?}"),
    }
}

async fn shows(caller: &Caller, bytes: impl Into<Bytes>) {
    caller.talk.output(Chunk { stream: Stream::Stdout, bytes: bytes.into() }).await;
}

fn ran() -> Reply {
    Reply::Executed(Box::new(replies::executed()))
}

fn a_terminal_carries_what_is_typed_and_shown_and_then_its_result() {
    block_on(async {
        let listening = stage(|caller, action| async move {
            let Action::SandboxExec(wish) = action else { panic!("{action:?}") };
            assert_eq!(wish.target, Target::Kept("one".to_owned()));
            assert_eq!(wish.command.terminal, Some(Window { rows: 5, columns: 7 }));
            assert_eq!((wish.command.input, wish.command.keep_output), (GivenInput::Comes, false));
            let mut heard = Vec::new();
            while let Some(input) = caller.talk.input().await {
                if input == Input::End {
                    break;
                }
                heard.push(format!("{input:?}"));
            }
            for _ in 0..2 {
                heard.push(format!("{:?}", caller.talk.urgent().await.expect("something urgent")));
            }
            shows(&caller, heard.join(";")).await;
            shows(&caller, vec![0xff]).await;
            Ok(ran())
        })
        .await;
        let mut socket = sit_down(&listening).await;
        let start = object!({"start": {"argv": ["sh"], "terminal": {"rows": 5, "columns": 7}}});
        say(&mut socket, &start).await;
        socket.send(Message::binary(&b"\x03ls\r"[..])).await.expect("sent");
        say(&mut socket, &object!({"resize": {"rows": 50, "columns": 100}})).await;
        say(&mut socket, &object!({"signal": "SIGINT"})).await;
        say(&mut socket, &object!({"eof": true})).await;
        let shown = next(&mut socket).await.expect("output").into_data();
        let heard = r#"Bytes(b"\x03ls\r");Resize(Window { rows: 50, columns: 100 });Signal(2)"#;
        assert_eq!(String::from_utf8_lossy(&shown), heard);
        assert_eq!(next(&mut socket).await, Some(Message::binary(vec![0xff])));
        let (words, code) = last(&mut socket).await;
        assert_eq!((&words["result"]["exitCode"], code), (&object!(3), CloseCode::Normal));
        assert!(next(&mut socket).await.is_none());
    });
}

fn a_terminal_is_for_whoever_may_run_commands() {
    block_on(async {
        let listening = stage(|_, action| async move { panic!("{action:?}") }).await;
        let place = "/v1/sandboxes/one/exec";
        for (uri, headers, status) in [
            (place, &[("x-api-key", CALLER)][..], 403),
            (place, &[("authorization", "Bearer bwk_nobody")], 401),
            // Without a key one may call tools, and that is not enough.
            (place, &[], 403),
            ("/v1/sandboxes/two/exec", &[("x-api-key", AUTHOR)], 404),
            (place, &[("x-api-key", AUTHOR), ("host", "evil.test")], 421),
            (place, &[("x-api-key", AUTHOR), ("sec-websocket-version", "8")], 400),
            (place, &[("x-api-key", AUTHOR), ("content-length", "5")], 400),
        ] {
            let refused = connect(&listening, uri, headers).await.err();
            assert_eq!(refused, Some(status), "{uri} {headers:?}");
        }
        // Credentials in the address end in logs: they are refused even where they are right.
        let uri = format!("{place}?token={AUTHOR}");
        assert!(connect(&listening, &uri, &[]).await.is_err());
    });
}

fn a_page_of_somebody_else_gets_no_terminal() {
    block_on(async {
        let listening = stage(|_, _| async move { Ok(ran()) }).await;
        let own = format!("http://{}", listening.address);
        for (origin, site, may) in [
            ("https://evil.test", None, false),
            ("null", None, false),
            ("http://127.0.0.1:1", None, false),
            (own.as_str(), Some("cross-site"), false),
            (own.as_str(), Some("same-origin"), true),
            (own.as_str(), None, true),
        ] {
            let mut headers = vec![("x-api-key", AUTHOR), ("origin", origin)];
            headers.extend(site.map(|site| ("sec-fetch-site", site)));
            let connected = loop {
                match connect(&listening, "/v1/sandboxes/one/exec", &headers).await {
                    // As in `sit_down`.
                    Err(429) => tokio::task::yield_now().await,
                    connected => break connected,
                }
            };
            match connected {
                Ok(mut socket) => {
                    assert!(may, "{origin} {site:?}");
                    say(&mut socket, &start()).await;
                    last(&mut socket).await;
                    // Its place is given back when it is gone.
                    while next(&mut socket).await.is_some() {}
                }
                Err(status) => assert!(!may && status == 403, "{origin} {site:?}: {status}"),
            }
        }
    });
}

fn what_is_no_websocket_is_told_so() {
    block_on(async {
        let listening = stage(|_, action| async move { panic!("{action:?}") }).await;
        for headers in ["", "connection: upgrade\r\nupgrade: h2c\r\n", "connection: close\r\n"] {
            let mut stream = TcpStream::connect(listening.address).await.expect("a connection");
            let head = format!(
                "GET /v1/sandboxes/one/exec HTTP/1.1\r\nhost: {}\r\nx-api-key: {AUTHOR}\r\n{headers}\r\n",
                listening.address
            );
            stream.write_all(head.as_bytes()).await.expect("sent");
            let mut answer = vec![0; 4096];
            let count = tokio::time::timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer");
            let answer = String::from_utf8_lossy(&answer[..count.expect("bytes")]).into_owned();
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
            assert!(answer.contains("application/problem+json") && answer.contains("WebSocket"), "{answer}");
        }
    });
}

/// A stage whose commands show one word and go on for ever, and what tells that one ended.
async fn for_ever() -> (Listening, mpsc::UnboundedReceiver<()>) {
    let (tell, gone) = mpsc::unbounded_channel();
    let listening = stage(move |caller, _| {
        let alarm = Alarm(tell.clone());
        async move {
            let _alarm = alarm;
            shows(&caller, "begun").await;
            std::future::pending().await
        }
    })
    .await;
    (listening, gone)
}

async fn begin(listening: &Listening) -> Socket {
    let mut socket = sit_down(listening).await;
    say(&mut socket, &start()).await;
    assert_eq!(next(&mut socket).await, Some(Message::binary(&b"begun"[..])));
    socket
}

async fn ends(gone: &mut mpsc::UnboundedReceiver<()>) {
    tokio::time::timeout(PATIENCE, gone.recv()).await.expect("it ends").expect("told");
}

fn whoever_goes_away_ends_the_command() {
    block_on(async {
        let (listening, mut gone) = for_ever().await;
        // Without a word, and with one.
        drop(begin(&listening).await);
        ends(&mut gone).await;
        let mut socket = begin(&listening).await;
        socket.close(None).await.expect("said goodbye");
        ends(&mut gone).await;
    });
}

fn whoever_breaks_the_rules_is_told_and_the_command_ends() {
    block_on(async {
        let (listening, mut gone) = for_ever().await;
        let large = Message::binary(vec![b'x'; (64 << 10) + 1]);
        for (message, says) in [
            (Message::text("hello"), "not one of a terminal's"),
            (Message::text(object!({"begin": {}}).to_string()), "unknown variant"),
            (Message::text(object!({"resize": {"rows": 1}}).to_string()), "columns"),
            (Message::text(object!({"signal": "SIGNOTHING"}).to_string()), "is not a signal"),
            (Message::text(start().to_string()), "a command runs already"),
            (Message::text(object!({"taken": 1}).to_string()), "nobody counts"),
            (large, "too large"),
        ] {
            let mut socket = begin(&listening).await;
            socket.send(message).await.expect("sent");
            let (words, _) = last(&mut socket).await;
            let detail = words["error"]["detail"].as_str().expect("a detail");
            assert!(detail.contains(says), "{detail}");
            ends(&mut gone).await;
            while next(&mut socket).await.is_some() {}
        }
        // Before anything began.
        for (message, says) in [
            (Message::binary(&b"ls"[..]), "nothing was started"),
            (Message::text(object!({"eof": true}).to_string()), "nothing was started"),
            (Message::text(object!({"start": {"argv": ["sh"], "stdin": "x"}}).to_string()), "unknown field"),
            (
                Message::text(
                    object!({"start": {"streams": true, "terminal": {"rows": 1, "columns": 1}}}).to_string(),
                ),
                "both `terminal` and `streams`",
            ),
        ] {
            let mut socket = sit_down(&listening).await;
            socket.send(message).await.expect("sent");
            let (words, code) = last(&mut socket).await;
            assert_eq!(code, CloseCode::Policy);
            assert!(
                words["error"]["detail"].as_str().is_some_and(|detail| detail.contains(says)),
                "{words:#}"
            );
            while next(&mut socket).await.is_some() {}
        }
        assert!(gone.try_recv().is_err(), "nothing else was run");
    });
}

fn a_terminal_ends_with_the_key() {
    block_on(async {
        let revoked = Arc::new(Notify::new());
        let (revoke, (tell, mut gone)) = (revoked.clone(), mpsc::unbounded_channel());
        let stage = Stage::script(move |caller, action| {
            let (revoke, alarm) = (revoke.clone(), Alarm(tell.clone()));
            Box::pin(async move {
                match action {
                    Action::SandboxShow { .. } => Ok(Reply::Sandbox(Box::new(replies::sandbox_view()))),
                    Action::Watch => {
                        // It watches for its own end and hears of nothing else.
                        assert_eq!((caller.scopes, caller.key.is_some()), (Scopes::of([]), true));
                        std::mem::forget(alarm);
                        revoke.notified().await;
                        Err(Refusal::new(ErrorCode::Unauthorized, "the key does not hold any more"))
                    }
                    _ => {
                        let _alarm = alarm;
                        shows(&caller, "begun").await;
                        std::future::pending().await
                    }
                }
            })
        });
        let listening = stage.await.listen(Arc::new(Ring), |_| {});
        let mut socket = begin(&listening).await;
        while gone.try_recv().is_ok() {}
        revoked.notify_one();
        let (words, _) = last(&mut socket).await;
        assert_eq!(words["error"]["code"], "UNAUTHORIZED");
        ends(&mut gone).await;
    });
}

fn a_terminal_ends_with_the_server() {
    block_on(async {
        let (listening, mut gone) = for_ever().await;
        let mut socket = begin(&listening).await;
        listening.stage.closing.cancel();
        listening.closing.begin();
        let (words, code) = last(&mut socket).await;
        assert_eq!((&words["error"]["code"], code), (&object!("UNAVAILABLE"), CloseCode::Away));
        ends(&mut gone).await;
        drop(socket);
        let Listening { ended, .. } = listening;
        tokio::time::timeout(PATIENCE, ended).await.expect("it ends").expect("no panic").expect("well");
    });
}

fn whoever_does_not_look_makes_the_command_wait() {
    const CHUNK: usize = 256 << 10;
    const MOST: usize = 256;
    block_on(async {
        let taken = Arc::new(AtomicUsize::new(0));
        let (counts, stuck) = (taken.clone(), Arc::new(Notify::new()));
        let hears = stuck.clone();
        let listening = stage(move |caller, _| {
            let (counts, hears) = (counts.clone(), hears.clone());
            async move {
                let shown = async {
                    for _ in 0..MOST {
                        shows(&caller, vec![b'x'; CHUNK]).await;
                        counts.fetch_add(1, Ordering::SeqCst);
                    }
                };
                let typed = async {
                    // What is typed comes through though nobody looks.
                    assert_eq!(caller.talk.input().await, Some(Input::Bytes(Bytes::from_static(b"q"))));
                    hears.notify_one();
                };
                tokio::join!(shown, typed);
                Ok(ran())
            }
        })
        .await;
        let mut socket = sit_down(&listening).await;
        say(&mut socket, &start()).await;
        // Until nothing more is taken, which is far from all.
        let mut before = usize::MAX;
        while taken.load(Ordering::SeqCst) != before {
            before = taken.load(Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        assert!(before < MOST / 2, "{before} of {MOST} were taken");
        socket.send(Message::binary(&b"q"[..])).await.expect("sent");
        tokio::time::timeout(PATIENCE, stuck.notified()).await.expect("it is heard");
        let mut seen = 0;
        loop {
            match next(&mut socket).await.expect("a message") {
                Message::Binary(bytes) => seen += bytes.len(),
                Message::Text(_) => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(seen, CHUNK * MOST);
    });
}

fn a_terminal_takes_its_place_for_as_long_as_it_lasts() {
    block_on(async {
        let (listening, mut gone) = for_ever().await;
        let socket = begin(&listening).await;
        // The key has room for one request at once.
        let second = connect(&listening, "/v1/sandboxes/one/exec", &[("x-api-key", AUTHOR)]).await;
        assert_eq!(second.err(), Some(429));
        drop(socket);
        ends(&mut gone).await;
        drop(sit_down(&listening).await);
    });
}

fn streams() -> Value {
    object!({"start": {"argv": ["sh"], "streams": true}})
}

/// The next words.
async fn words(socket: &mut Socket) -> Value {
    loop {
        match next(socket).await.expect("words") {
            Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
            Message::Binary(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn three_streams_are_told_apart_and_counted() {
    block_on(async {
        let listening = stage(|caller, action| async move {
            let Action::SandboxExec(wish) = action else { panic!("{action:?}") };
            assert_eq!((wish.command.terminal, wish.command.unending), (None, true));
            for stream in [Stream::Stdout, Stream::Stderr] {
                caller.talk.output(Chunk { stream, bytes: Bytes::from_static(b"x") }).await;
            }
            assert_eq!(caller.talk.input().await, Some(Input::Bytes(Bytes::from_static(b"in"))));
            assert_eq!(caller.talk.input().await, Some(Input::End));
            assert_eq!(caller.talk.urgent().await, Some(Input::Kill));
            Ok(ran())
        })
        .await;
        let mut socket = sit_down(&listening).await;
        say(&mut socket, &streams()).await;
        assert_eq!(next(&mut socket).await, Some(Message::binary(&b"\x01x"[..])));
        assert_eq!(next(&mut socket).await, Some(Message::binary(&b"\x02x"[..])));
        socket.send(Message::binary(&b"in"[..])).await.expect("sent");
        let said = words(&mut socket).await;
        is_a("TerminalSaid", &said);
        assert_eq!(said, object!({"taken": 1}));
        say(&mut socket, &object!({"eof": true})).await;
        assert_eq!(words(&mut socket).await, object!({"taken": 2}));
        say(&mut socket, &object!({"kill": true})).await;
        let (said, code) = last(&mut socket).await;
        assert_eq!((&said["result"]["exitCode"], code), (&object!(3), CloseCode::Normal));
    });
}

fn whoever_takes_nothing_of_a_stream_makes_the_command_wait_and_is_not_cut_off() {
    block_on(async {
        let listening = stage(|caller, _| async move {
            for _ in 0..100 {
                shows(&caller, "x").await;
            }
            Ok(ran())
        })
        .await;
        let mut socket = sit_down(&listening).await;
        say(&mut socket, &streams()).await;
        let mut seen = 0_u64;
        for _ in 0..8 {
            assert_eq!(next(&mut socket).await, Some(Message::binary(&b"\x01x"[..])));
            seen += 1;
        }
        // Nothing more comes until some of it is taken, though the connection is read and answers.
        socket.send(Message::Ping(Bytes::new())).await.expect("sent");
        let answer = tokio::time::timeout(PATIENCE, socket.next()).await.expect("an answer");
        assert!(matches!(answer, Some(Ok(Message::Pong(_)))), "{answer:?}");
        say(&mut socket, &object!({"taken": 3})).await;
        for _ in 0..3 {
            assert_eq!(next(&mut socket).await, Some(Message::binary(&b"\x01x"[..])));
            seen += 1;
        }
        while seen < 100 {
            say(&mut socket, &object!({"taken": seen})).await;
            assert_eq!(next(&mut socket).await, Some(Message::binary(&b"\x01x"[..])));
            seen += 1;
        }
        say(&mut socket, &object!({"taken": seen})).await;
        assert_eq!(last(&mut socket).await.1, CloseCode::Normal);
    });
}

fn what_is_to_be_run_may_be_longer_than_what_is_typed() {
    block_on(async {
        let listening = stage(|_, action| async move {
            let Action::SandboxExec(wish) = action else { panic!("{action:?}") };
            assert_eq!(wish.command.argv.iter().map(String::len).sum::<usize>(), 100_000);
            Ok(ran())
        })
        .await;
        let mut socket = sit_down(&listening).await;
        say(&mut socket, &object!({"start": {"argv": ["y".repeat(100_000)], "streams": true}})).await;
        assert_eq!(last(&mut socket).await.1, CloseCode::Normal);
    });
}
