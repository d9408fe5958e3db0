//! Messages that are none, and floods: each gets a clear answer or none, and the next one works.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use bailiwick_core::{Admitted, Refusal};
use bailiwick_mcp::model::CallToolResult;
use bailiwick_mcp::{Call, Era, Failed, Future, Offers, Page, PipeError};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::client::{Client, NEW, OLD, Way, failed, post, read, text};
use crate::stage::{Stage, block_on, soon};
use crate::tools::{ADD, WAIT};

bailiwick_testkit::tests!(
    what_is_no_message_is_refused_over_http,
    what_is_no_message_is_survived_by_a_pipe,
    parameters_that_do_not_fit_are_told,
    methods_that_are_not_there_are_told,
    a_fault_of_what_is_offered_is_that_requests_alone,
    versions_and_headers_that_do_not_fit_are_told,
    a_body_over_the_limit_is_refused,
    a_line_over_the_limit_is_dropped_and_the_next_one_works,
    the_end_in_the_middle_of_a_message_is_an_end,
    whoever_does_not_begin_as_they_should_is_told_shortly,
    the_same_id_twice_harms_nobody_else,
    a_flood_of_notices_is_survived,
    more_calls_than_a_pipe_may_have_are_told_to_wait,
    a_client_that_reads_nothing_stops_being_read,
    hundreds_at_once_are_all_answered,
);

/// Bodies that are no message.
fn broken() -> Vec<String> {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let call = |arguments: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"add\",\"arguments\":{arguments}}}}}"
        )
    };
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let with = |key: &str, value: Value| {
        let mut message = list.clone();
        message[key] = value;
        message.to_string()
    };
    vec![
        String::new(),
        "{".to_owned(),
        "nonsense".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "\"text\"".to_owned(),
        "1e999".to_owned(),
        "\u{0}".to_owned(),
        json!([list, list]).to_string(),
        with("jsonrpc", json!("1.0")),
        with("jsonrpc", Value::Null),
        with("id", json!(1.5)),
        with("id", json!([1])),
        with("id", json!({"a": 1})),
        with("id", json!(true)),
        with("method", json!(7)),
        deep("[", "]"),
        deep("{\"a\":", "}"),
        call(&deep("[", "]")),
        call(&deep("{\"a\":", "}").replace(":}", ":1}")),
    ]
}

/// A request with this body, in an era.
fn raw(version: &str, session: Option<&str>, body: &str) -> Request<Body> {
    let mut request = post(session, version, &json!({"method": "tools/call", "params": {"name": "add"}}));
    *request.body_mut() = Body::from(body.to_owned());
    request
}

fn what_is_no_message_is_refused_over_http() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mut client = stage.client(Way::Session).await;
        let session = client.session();
        for body in broken() {
            let shown: String = body.chars().take(60).collect();
            for (version, session) in [(NEW, None), (OLD, None), (OLD, Some(session.as_str()))] {
                let (status, told) =
                    read(stage.send(stage.agent(), raw(version, session, &body)).await).await;
                assert_eq!(status, 400, "{version} {session:?} {shown}: {told}");
                assert!(!told.is_empty() && told.len() < 2000, "{shown}: {told}");
            }
        }
        let told = read(stage.send(stage.agent(), raw(NEW, None, "{")).await).await.1;
        let told: Value = serde_json::from_str(&told).expect("an error of the protocol");
        assert_eq!((&told["error"]["code"], &told["id"]), (&json!(-32700), &Value::Null), "{told}");
        assert_eq!(text(&client.called("add", json!({"a": 1, "b": 1})).await), "2");
        stage.ran_calls(1).await;
    });
}

fn what_is_no_message_is_survived_by_a_pipe() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in [Way::OldPipe, Way::NewPipe] {
            let mut client = stage.client(way).await;
            if way == Way::NewPipe {
                client.names().await;
            }
            for body in broken() {
                client.line(&body).await;
            }
            client.bytes(b"\xff\xfe\n\r\n\n\xef\xbb\xbf\n").await;
            assert_eq!(text(&client.called("add", json!({"a": 1, "b": 1})).await), "2", "{way:?}");
        }
        stage.ran_calls(2).await;
    });
}

fn parameters_that_do_not_fit_are_told() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            for params in [
                json!({"name": "add", "arguments": [1]}),
                json!({"name": "add", "arguments": "text"}),
                json!({"name": "add", "arguments": {"a": 1, "b": 2}, "requestState": 7}),
                json!({"name": "add", "arguments": {"a": 1, "b": 2}, "inputResponses": [1]}),
            ] {
                let id = client.send("tools/call", params.clone()).await;
                let (code, message) = client.error(id).await;
                assert_eq!(code, -32602, "{way:?} {params}: {message}");
            }
        }
        stage.ran_calls(0).await;
    });
}

/// Offers nothing but panics.
struct Panics;

impl Offers for Panics {
    fn tools<'a>(&'a self, _: &'a Admitted, _: Option<String>, _: Era) -> Future<'a, Result<Page, Refusal>> {
        Box::pin(async { panic!("on purpose") })
    }

    fn call(&self, _: Call) -> Future<'_, Result<CallToolResult, Failed>> {
        Box::pin(async { panic!("on purpose") })
    }

    fn changes(&self, _: Admitted, _: Arc<Notify>) -> Future<'_, Result<(), Refusal>> {
        Box::pin(async { panic!("on purpose") })
    }
}

fn a_fault_of_what_is_offered_is_that_requests_alone() {
    block_on(async {
        let mut stage = Stage::with(&[]).await;
        stage.offering(Arc::new(Panics));
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            for _ in 0..3 {
                let id = client.send("tools/list", json!({})).await;
                assert_eq!(client.error(id).await.0, -32603, "{way:?}");
                let id = client.call("add", json!({})).await;
                assert_eq!(client.error(id).await.0, -32603, "{way:?}");
            }
        }
    });
}

fn methods_that_are_not_there_are_told() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            for method in [
                "prompts/list",
                "resources/list",
                "resources/templates/list",
                "prompts/get",
                "resources/read",
                "completion/complete",
                "sampling/createMessage",
                "tasks/get",
                "no/such",
                "",
                "tools/Call",
            ] {
                let params = match method {
                    "resources/read" => json!({"uri": "a:b"}),
                    "prompts/get" => json!({"name": "x"}),
                    "tasks/get" => json!({"taskId": "x"}),
                    "completion/complete" => {
                        json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}})
                    }
                    _ => json!({}),
                };
                let id = client.send(method, params).await;
                let (answer, _) = client.answer(id).await;
                assert_eq!(answer["error"]["code"], -32601, "{way:?} {method}: {answer:#}");
            }
            assert_eq!(client.names().await, ["add"]);
        }
    });
}

fn versions_and_headers_that_do_not_fit_are_told() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let client = stage.client(Way::Alone).await;
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "add", "arguments": {"a": 1, "b": 1}, "_meta": client.about()}});
        let change = |header: &'static str, value: Option<&'static str>| {
            let mut request = post(None, NEW, &message);
            request.headers_mut().remove(header);
            if let Some(value) = value {
                request.headers_mut().insert(header, http::HeaderValue::from_static(value));
            }
            request
        };
        let cases = [
            ("mcp-protocol-version", None, 400),
            ("mcp-protocol-version", Some("1999-01-01"), 400),
            ("mcp-protocol-version", Some(OLD), 400),
            ("mcp-method", None, 400),
            ("mcp-method", Some("tools/list"), 400),
            ("mcp-name", None, 400),
            ("mcp-name", Some("greet"), 400),
            ("accept", Some("text/html"), 406),
            ("content-type", Some("text/plain"), 415),
            ("mcp-session-id", Some("x"), 404),
        ];
        for (header, value, wanted) in cases {
            let (status, told) = read(stage.send(stage.agent(), change(header, value)).await).await;
            assert_eq!(status, wanted, "{header}: {value:?}: {told}");
        }
        let mut unknown = message.clone();
        unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
        let mut request = post(None, "2099-01-01", &unknown);
        request.headers_mut().insert("mcp-method", http::HeaderValue::from_static("tools/call"));
        request.headers_mut().insert("mcp-name", http::HeaderValue::from_static("add"));
        let (status, told) = read(stage.send(stage.agent(), request).await).await;
        assert_eq!(status, 400, "{told}");
        assert!(told.contains("-32022"), "{told}");
        stage.ran_calls(0).await;
        let (status, told) = read(stage.send(stage.agent(), change("x-nothing", None)).await).await;
        assert_eq!(status, 200, "{told}");
        for method in ["PUT", "PATCH", "OPTIONS", "HEAD"] {
            let request = Request::builder().method(method).uri("/mcp").header("host", "127.0.0.1");
            let request = request.body(Body::empty()).expect("a request");
            assert_eq!(stage.send(stage.agent(), request).await.status(), 405, "{method}");
        }
    });
}

fn a_body_over_the_limit_is_refused() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let body = format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20));
        for version in [OLD, NEW] {
            let (status, told) = read(stage.send(stage.agent(), raw(version, None, &body)).await).await;
            assert_eq!(status, 413, "{told}");
        }
    });
}

fn a_line_over_the_limit_is_dropped_and_the_next_one_works() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in [Way::OldPipe, Way::NewPipe] {
            let mut client = stage.client(way).await;
            let piece = "x".repeat(1 << 16);
            for _ in 0..64 {
                client.bytes(piece.as_bytes()).await;
            }
            client.line("").await;
            assert_eq!(text(&client.called("add", json!({"a": 1, "b": 1})).await), "2", "{way:?}");
        }
    });
}

fn the_end_in_the_middle_of_a_message_is_an_end() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in [Way::OldPipe, Way::NewPipe] {
            let mut client = stage.client(way).await;
            client.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/ca").await;
            client.hang_up().await;
            client.served().await.expect("served");
        }
    });
}

fn whoever_does_not_begin_as_they_should_is_told_shortly() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        let mut client = stage.client(Way::NewPipe).await;
        let secret = "a-secret-value";
        client.notify("notifications/progress", json!({"progressToken": secret, "progress": 1})).await;
        let error = client.served().await.expect_err("it did not begin");
        assert!(matches!(error, PipeError::Beginning(_)), "{error:?}");
        let told = error.to_string();
        assert!(!told.contains(secret) && told.len() < 300, "{told}");
        let mut chain = std::error::Error::source(&error);
        while let Some(source) = chain {
            assert!(!source.to_string().contains(secret), "{source}");
            chain = source.source();
        }
    });
}

fn the_same_id_twice_harms_nobody_else() {
    block_on(async {
        let stage = Stage::with(&[WAIT, ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let call = |ms: u64| json!({"name": "wait", "arguments": {"ms": ms}});
            client.send_as(77, "tools/call", call(300)).await;
            client.send_as(77, "tools/call", call(10)).await;
            client.answer(77).await;
            assert_eq!(text(&client.called("add", json!({"a": 1, "b": 1})).await), "2", "{way:?}");
        }
    });
}

fn a_flood_of_notices_is_survived() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in [Way::OldPipe, Way::NewPipe] {
            let mut client = stage.client(way).await;
            client.names().await;
            for n in 0..20_000 {
                let (method, params) = match n % 4 {
                    0 => ("notifications/cancelled", json!({"requestId": n})),
                    1 => ("notifications/progress", json!({"progressToken": n, "progress": n})),
                    2 => ("notifications/initialized", json!({})),
                    _ => ("notifications/none", json!({"n": n})),
                };
                client.notify(method, params).await;
            }
            let id = client.call("add", json!({"a": 1, "b": 1})).await;
            let (answer, _) = client.answer(id).await;
            assert_eq!(text(&answer["result"]), "2", "{way:?}");
        }
    });
}

fn more_calls_than_a_pipe_may_have_are_told_to_wait() {
    block_on(async {
        let stage = Stage::with(&[WAIT, ADD]).await;
        let mut client = stage.client(Way::OldPipe).await;
        let mut ids = Vec::new();
        for _ in 0..65 {
            ids.push(client.call("wait", json!({"ms": 20_000})).await);
        }
        let busy = client.until(|message| message["result"].is_object()).await;
        assert_eq!(failed(&busy["result"]), "BUSY");
        for id in ids {
            client.notify("notifications/cancelled", json!({"requestId": id})).await;
        }
        // When those are gone there is room again.
        let freed = async {
            loop {
                let called = client.called("add", json!({"a": 1, "b": 1})).await;
                if called["isError"] == false {
                    return text(&called);
                }
                assert_eq!(failed(&called), "BUSY");
                tokio::task::yield_now().await;
            }
        };
        assert_eq!(soon(freed).await, "2");
    });
}

fn a_client_that_reads_nothing_stops_being_read() {
    block_on(async {
        use tokio::io::AsyncWriteExt as _;
        let stage = Stage::with(&[ADD]).await;
        let (mut ours, theirs) = tokio::io::duplex(1 << 12);
        let (reads, writes) = tokio::io::split(theirs);
        let (mcp, who, ending) =
            (stage.mcp.clone(), stage.agent(), tokio_util::sync::CancellationToken::new());
        let served = tokio::spawn(async move { mcp.pipe(reads, writes, who, ending).await });
        let client = Client::open(&stage, Way::Alone, stage.agent(), &json!({})).await;
        let line =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": client.about()}});
        let mut taken = 0;
        // Whoever is not read any more cannot write any more.
        while taken < 20_000 {
            let mut message = line.clone();
            message["id"] = json!(taken);
            let bytes = format!("{message}\n");
            let write = ours.write_all(bytes.as_bytes());
            if tokio::time::timeout(std::time::Duration::from_secs(2), write).await.is_err() {
                break;
            }
            taken += 1;
        }
        assert!(taken < 5_000, "{taken} requests were taken whose answers nobody reads");
        drop(ours);
        soon(served).await.expect("no panic").expect("served");
    });
}

fn hundreds_at_once_are_all_answered() {
    block_on(async {
        let stage = Stage::with(&[ADD]).await;
        for way in Way::ALL {
            let mut client = stage.client(way).await;
            let mut ids = Vec::new();
            for n in 0..300 {
                ids.push(match n % 3 {
                    0 => client.call("add", json!({"a": n, "b": 0})).await,
                    1 => client.send("tools/list", json!({})).await,
                    _ => client.call("nothing", json!({})).await,
                });
            }
            let mut answered = std::collections::BTreeSet::new();
            while answered.len() < ids.len() {
                let answer = client.next().await;
                if let Some(id) = answer["id"].as_u64() {
                    assert!(answered.insert(id), "{way:?}: {id} was answered twice");
                }
            }
        }
    });
}
