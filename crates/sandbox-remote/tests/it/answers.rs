//! Answers that are none: too long, of another shape, from another version, wider than what was asked for, or leading elsewhere.

use bailiwick_sandbox::{Available, Backend as _, SandboxError, SandboxSpec};
use bailiwick_types::{ErrorCode, Tier};
use serde_json::{Value, json};

use crate::stage::{Answer, KEY, Request, Stage, block_on, described, made};

const LONG: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";

/// Why a look at a server with this script finds nothing.
async fn reason(script: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> (String, String) {
    let stage = Stage::new(script).await;
    let probe = stage.backend().probe().await;
    let Available::No { reason, fix } = probe.availability else { panic!("it is taken for available") };
    assert!(probe.enforces.is_empty(), "nothing is claimed: {:?}", probe.enforces);
    assert!(!reason.contains(KEY) && reason.chars().count() < 2000, "{reason}");
    (reason, fix.unwrap_or_default())
}

async fn check(line: &'static str, answer: Answer, says: &str, hint: &str) {
    let (reason, fix) = reason(move |request| request.is(line).then(|| answer.clone())).await;
    assert!(reason.contains(says) && fix.contains(hint), "{line}: {reason} / {fix}");
}

#[test]
fn a_server_that_means_well_is_available() {
    block_on(async {
        let stage = Stage::new(|_| None).await;
        let backend = stage.backend();
        let probe = backend.probe().await;
        assert_eq!(probe.availability, Available::Yes, "{probe:?}");
        assert_eq!(backend.tier(), Tier::Container, "as it said");
        let asked = stage.asked();
        backend.probe().await;
        assert_eq!(stage.asked().len(), asked.len(), "what was seen is remembered");
        let lines: Vec<&str> = asked.iter().map(|request| request.line.as_str()).collect();
        assert!(lines.iter().all(|line| !line.contains("bwk_")), "{lines:?}");
        assert!(asked.iter().any(|request| request.is("DELETE ")), "it was ended: {lines:?}");
    });
}

#[test]
fn answers_that_are_none_are_told_as_that() {
    block_on(async {
        let version = "GET /v1/openapi.json";
        check(version, Answer::Json(200, json!({})), "is no Bailiwick server", "sandbox.remote.url").await;
        check(
            version,
            Answer::Json(200, described("0.9.0")),
            "is bailiwick 0.9.0, and this is",
            "one version",
        )
        .await;
        check(version, Answer::Endless(LONG), "not understood", "").await;
        check(version, Answer::Raw("HTTP/1.1 200 OK\r\n".to_owned()), "not understood", "").await;
        check(version, Answer::Raw("SSH-2.0-x\r\n".to_owned()), "not understood", "").await;
        let create = "POST /v1/sandboxes ";
        check(create, Answer::Json(200, json!([1, 2])), "not understood", "").await;
        check(create, Answer::Json(200, json!({"id": "x"})), "not understood", "").await;
        check(create, Answer::Endless(LONG), "not understood", "").await;
        let refused = json!({"code": "FORBIDDEN", "detail": "x".repeat(100_000)});
        check(create, Answer::Json(403, refused), "xxx", "").await;
    });
}

#[test]
fn a_redirect_is_not_followed_and_the_key_goes_nowhere_else() {
    block_on(async {
        let other = Stage::new(|_| None).await;
        for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
            for line in ["GET /v1/openapi.json", "POST /v1/sandboxes ", "GET /v1/sandboxes/"] {
                let to = format!(
                    "HTTP/1.1 {status}\r\nlocation: http://{}/v1/openapi.json\r\ncontent-length: 0\r\n\r\n",
                    other.address
                );
                let (reason, _) =
                    reason(move |request| request.is(line).then(|| Answer::Raw(to.clone()))).await;
                assert!(reason.contains("not understood: it answers 30"), "{line}: {reason}");
            }
        }
        assert!(other.asked().is_empty(), "{:?}", other.asked());
    });
}

#[test]
fn a_key_that_a_server_says_back_is_not_passed_on() {
    block_on(async {
        let answer = json!({"code": "FORBIDDEN", "detail": format!("you showed {KEY}"), "hint": KEY});
        let (reason, fix) = reason(move |request| {
            assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}")));
            request.is("POST /v1/sandboxes ").then(|| Answer::Json(403, answer.clone()))
        })
        .await;
        assert!(reason.contains("you showed"), "{reason}");
        assert!(!fix.contains(KEY), "{fix}");
        let stage = Stage::new(|_| None).await;
        assert!(!format!("{:?}", stage.backend()).contains("the-secret-part"));
    });
}

/// A sandbox that is not what was asked for is refused, and ended there.
async fn check_made(
    change: impl Fn(&mut Value) + Clone + Send + Sync + 'static,
    says: &str,
    code: ErrorCode,
) {
    let stage = Stage::new(move |request| {
        let is_looked_at = request.body["absolute"] == "2m";
        (request.is("POST /v1/sandboxes ") && !is_looked_at).then(|| {
            let mut view = made(&request.body);
            change(&mut view);
            Answer::Json(201, view)
        })
    })
    .await;
    let backend = stage.backend();
    assert_eq!(backend.probe().await.availability, Available::Yes);
    let before = stage.asked().len();
    let error = backend.create(SandboxSpec::default()).await.expect_err("it is not what was asked for");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
    backend.close().await;
    let asked = stage.asked();
    assert!(asked[before..].iter().any(|request| request.is("DELETE ")), "it was ended: {asked:?}");
}

#[test]
fn a_sandbox_that_is_wider_or_weaker_than_asked_for_is_refused() {
    use ErrorCode::{Unavailable, Unenforceable};
    block_on(async {
        let limit = |key: &'static str, value: u64| {
            move |view: &mut Value| view["spec"]["limits"][key]["value"] = json!(value)
        };
        check_made(limit("memoryBytes", 1 << 40), "of memory, and", Unavailable).await;
        check_made(limit("processes", 0), "of processes, and", Unavailable).await;
        check_made(|view| view["spec"]["limits"] = Value::Null, "limits", Unavailable).await;
        check_made(|view| view["spec"]["network"] = json!("full"), "the network", Unavailable).await;
        check_made(|view| view["spec"]["mounts"] = json!(["/:/x:rw"]), "mounts", Unavailable).await;
        check_made(|view| view["spec"]["overlays"] = Value::Null, "overlays", Unavailable).await;
        check_made(|view| view["receipt"]["tier"] = json!("PROCESS"), "CONTAINER", Unenforceable).await;
        check_made(|view| view["receipt"]["walls"] = json!([]), "network", Unenforceable).await;
        let absent = |view: &mut Value| view["receipt"]["walls"][1]["status"] = json!("absent");
        check_made(absent, "files", Unenforceable).await;
    });
}

#[test]
fn a_server_that_never_answers_keeps_nobody_waiting() {
    block_on(async {
        let begun = std::time::Instant::now();
        let (reason, _) = reason(|_| Some(Answer::Nothing)).await;
        assert!(reason.contains("within 9 seconds"), "{reason}");
        assert!(begun.elapsed().as_secs() < 20);
    });
}

/// Closes a backend in the middle of a look, when the server was asked for this, and says what it was asked for in all.
async fn closed_at(is_there: fn(&Request) -> bool) -> Vec<Request> {
    let (tells, mut told) = tokio::sync::mpsc::unbounded_channel();
    let stage = Stage::new(move |request| {
        is_there(request).then(|| {
            let _unheard = tells.send(());
            Answer::Nothing
        })
    })
    .await;
    let backend = stage.backend();
    let looking = tokio::spawn({
        let backend = backend.clone();
        async move { backend.probe().await }
    });
    told.recv().await.expect("it was asked");
    let begun = std::time::Instant::now();
    backend.close().await;
    assert!(begun.elapsed().as_secs() < 5, "nobody needs the look: {:?}", begun.elapsed());
    let Available::No { reason, .. } = looking.await.expect("told").availability else {
        panic!("nothing was seen")
    };
    assert!(reason.contains("closed while it looked"), "{reason}");
    // It can still be used.
    while told.try_recv().is_ok() {}
    tokio::select! {
        _ = backend.probe() => panic!("nobody answers"),
        again = told.recv() => again.expect("it was asked again"),
    }
    stage.asked()
}

#[test]
fn a_close_waits_for_no_look_and_ends_what_it_made() {
    block_on(async {
        let ended = |asked: &[Request]| asked.iter().filter(|request| request.is("DELETE ")).count();
        let asked = closed_at(|request| request.is("GET /v1/openapi.json")).await;
        assert_eq!(ended(&asked), 0, "nothing was made: {asked:?}");
        let asked = closed_at(|request| request.is("POST /v1/sandboxes ")).await;
        assert_eq!(ended(&asked), 1, "it may have been made: {asked:?}");
        let asked = closed_at(Request::is_a_talk).await;
        assert_eq!(ended(&asked), 1, "it was made: {asked:?}");
        // Neither does it wait for a server that ends nothing.
        closed_at(|request| request.is_a_talk() || request.is("DELETE ")).await;
    });
}

#[test]
fn what_cannot_cross_is_never_sent() {
    block_on(async {
        let stage = Stage::new(|_| None).await;
        let mut spec = SandboxSpec::default();
        spec.expose.push(80);
        let error = stage.backend().create(spec).await.expect_err("it cannot cross");
        assert!(matches!(error, SandboxError::Unsupported { .. }), "{error}");
        assert!(stage.asked().is_empty(), "{:?}", stage.asked());
    });
}
