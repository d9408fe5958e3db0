//! Requests that do not fit: each is told as problem+json, and nobody behind the desk hears of it.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use bailiwick_core::Reply;
use serde_json::{Value, json as object};

use crate::schema::is_a;
use crate::stage::{Answer, Stage, bare, block_on, get, json, text, with};

bailiwick_testkit::tests!(
    what_is_not_there_is_a_404,
    a_method_that_is_not_taken_is_a_405_with_allow,
    a_body_that_is_not_json_is_told_with_its_place,
    a_body_of_another_shape_is_told,
    a_body_of_another_kind_is_a_415,
    a_body_that_is_too_large_is_a_413,
    a_query_that_does_not_fit_is_told,
    a_path_that_does_not_fit_is_told,
    a_correlation_id_is_taken_told_and_checked,
    what_is_about_to_end_is_not_ready,
);

async fn stage() -> Stage {
    Stage::replying(Ok(Reply::Done)).await
}

/// Sends what does not fit, and gives the problem.
async fn check(request: Request, status: u16, says: &str) -> Value {
    let stage = stage().await;
    let shown = format!("{} {}", request.method(), request.uri());
    let answer = stage.ask(request).await;
    assert_eq!(answer.status.as_u16(), status, "{shown}: {}", answer.text);
    assert_eq!(answer.kind(), Some("application/problem+json"), "{shown}");
    assert_eq!(stage.asked(), Vec::new(), "{shown}");
    let problem = answer.json();
    is_a("Problem", &problem);
    assert_eq!(problem["status"], status, "{shown}");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains(says), "{shown}: {detail}");
    problem
}

fn what_is_not_there_is_a_404() {
    block_on(async {
        for path in ["/", "/v1", "/v1/", "/v1/nothing", "/v2/tools", "/v1/tools/a/b", "/v1//tools", "/tools"]
        {
            let problem = check(get(path), 404, "there is nothing at").await;
            assert_eq!(problem["code"], "NOT_FOUND", "{path}");
        }
    });
}

fn a_method_that_is_not_taken_is_a_405_with_allow() {
    block_on(async {
        for (method, path, allow) in [
            ("DELETE", "/v1/tools", "GET,HEAD,POST"),
            ("PATCH", "/v1/tools/add", "GET,HEAD,PUT,DELETE"),
            ("GET", "/v1/execute", "POST"),
            ("TRACE", "/healthz", "GET,HEAD"),
        ] {
            check(bare(method, path), 405, "takes no").await;
            let answer = stage().await.ask(bare(method, path)).await;
            let mut allowed: Vec<&str> = answer.header("allow").split(',').map(str::trim).collect();
            allowed.sort_unstable();
            let mut wanted: Vec<&str> = allow.split(',').collect();
            wanted.sort_unstable();
            assert_eq!(allowed, wanted, "{method} {path}");
        }
    });
}

fn a_body_that_is_not_json_is_told_with_its_place() {
    block_on(async {
        for (body, line, column) in [("", 1, 0), ("{\n  \"code\": }", 2, 11), ("{\"code\": \"1\"} x", 1, 15)]
        {
            let request = text("POST", "/v1/validate", "application/json", body);
            let problem = check(request, 400, "the body is not JSON").await;
            assert_eq!(problem["code"], "INVALID_INPUT");
            let fault = &problem["faults"][0];
            assert_eq!((&fault["line"], &fault["column"]), (&object!(line), &object!(column)), "{body}");
        }
        let deep = format!("{{\"tool\": \"a\", \"arguments\": {{\"a\": {}}}}}", "[".repeat(1000));
        check(text("POST", "/v1/execute", "application/json", &deep), 400, "recursion limit").await;
    });
}

fn a_body_of_another_shape_is_told() {
    block_on(async {
        for (path, body, says) in [
            ("/v1/validate", object!({"code": 1}), "expected a string"),
            ("/v1/validate", object!({"code": "1", "cod": 1}), "unknown field `cod`"),
            ("/v1/validate", object!(["1", "body", "js"]), "expected an object"),
            ("/v1/execute", object!({}), "neither `tool` nor `code`"),
            ("/v1/execute", object!({"tool": "a", "code": "1"}), "both `tool` and `code`"),
            ("/v1/execute", object!({"tool": "a", "overrides": {}}), "`overrides` goes with `code`"),
            ("/v1/execute", object!({"code": "1", "workspace": "w"}), "`workspace` goes with `tool`"),
            ("/v1/execute", object!({"tool": "a", "arguments": []}), "expected a map"),
            ("/v1/execute", object!({"tool": "a", "correlationId": "a b"}), "correlation id"),
            ("/v1/keys", object!({"name": "a", "scopes": ["all"]}), "unknown variant `all`"),
            ("/v1/approvals/0190a0b0-0000-7000-8000-000000000001", object!({"answer": "maybe"}), "maybe"),
            ("/v1/tools", object!({"name": "a"}), "missing field `document`"),
        ] {
            let problem = check(json("POST", path, &body), 400, says).await;
            assert_eq!(problem["code"], "INVALID_INPUT", "{path}");
        }
    });
}

fn a_body_of_another_kind_is_a_415() {
    block_on(async {
        for kind in ["text/plain", "application/xml", "application/x-www-form-urlencoded", ""] {
            check(text("POST", "/v1/execute", kind, "{}"), 415, "kind that is not read").await;
            check(text("POST", "/v1/tools", kind, "{}"), 415, "kind that is not read").await;
            check(text("POST", "/v1/tools/a/publish", kind, "{}"), 415, "kind that is not read").await;
        }
        check(text("POST", "/v1/execute", "application/yaml", "{}"), 415, "kind that is not read").await;
    });
}

fn a_body_that_is_too_large_is_a_413() {
    block_on(async {
        let body = object!({"code": "x".repeat(70_000)});
        check(json("POST", "/v1/validate", &body), 413, "`server.body`").await;
        let request = with(json("POST", "/v1/execute", &body), "idempotency-key", "k");
        check(request, 413, "").await;
    });
}

fn a_query_that_does_not_fit_is_told() {
    block_on(async {
        for (uri, says) in [
            ("/v1/tools?limit=0", "`limit` is 0"),
            ("/v1/tools?limit=501", "`limit` is 501"),
            ("/v1/tools?limit=many", "limit"),
            ("/v1/tools?lmit=1", "unknown field `lmit`"),
            ("/v1/tools?after=!", "no cursor of ours"),
            ("/v1/audit?after=YWJj", "no cursor of ours"),
            ("/v1/audit?order=up", "unknown variant `up`"),
            ("/v1/audit/export?from=-1", "from"),
            ("/v1/events?types=approval,nothing", "`nothing` is not an event"),
        ] {
            check(get(uri), 400, says).await;
        }
        check(json("POST", "/v1/execute?stream=maybe", &object!({"tool": "a"})), 400, "`stream`").await;
    });
}

fn a_path_that_does_not_fit_is_told() {
    block_on(async {
        check(json("POST", "/v1/approvals/7", &object!({"answer": "no"})), 400, "approval id").await;
        check(bare("DELETE", "/v1/approvals/remembered/x"), 400, "approval id").await;
        check(get("/v1/tools/%FF"), 400, "UTF-8").await;
        let request = with(bare("DELETE", "/v1/tools/a"), "if-match", "\"1\"");
        check(request, 400, "`if-match`").await;
        let document = object!({"document": {}});
        for wrong in ["7", "\"x\"", "W/\"7\"", "\"1\", \"2\""] {
            check(with(json("PUT", "/v1/tools/a", &document), "if-match", wrong), 400, "`if-match`").await;
        }
    });
}

fn a_correlation_id_is_taken_told_and_checked() {
    block_on(async {
        let stage = Stage::replying(Ok(Reply::Keys(Vec::new()))).await;
        let answer = stage.ask(with(get("/v1/keys"), "x-correlation-id", "mine-1")).await;
        assert_eq!((answer.status, answer.header("x-correlation-id")), (StatusCode::OK, "mine-1"));
        let (first, second) = (stage.ask(get("/v1/keys")).await, stage.ask(get("/nothing")).await);
        assert_ne!(first.header("x-correlation-id"), second.header("x-correlation-id"));
        assert_eq!(second.json()["instance"], second.header("x-correlation-id"));
        for wrong in ["a b".to_owned(), "x".repeat(129), String::new()] {
            check(with(get("/v1/keys"), "x-correlation-id", &wrong), 400, "x-correlation-id").await;
        }
        let twice = with(with(get("/v1/keys"), "x-correlation-id", "a"), "x-correlation-id", "b");
        check(twice, 400, "more than once").await;
    });
}

fn what_is_about_to_end_is_not_ready() {
    block_on(async {
        let stage = Stage::replying(Ok(Reply::Tools(Vec::new()))).await;
        let ask = |path: &str| Request::get(path).body(Body::empty()).expect("a request");
        assert_eq!(stage.send_alone(ask("/readyz")).await.status(), StatusCode::OK);
        stage.closing.cancel();
        let answer = Answer::of(stage.send_alone(ask("/readyz")).await).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.json()["code"], "UNAVAILABLE");
        assert_eq!(stage.send_alone(ask("/healthz")).await.status(), StatusCode::OK);
    });
}
