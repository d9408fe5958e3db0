//! A whole core behind the routes: a tool from its first document to its call, and all of it on the record.

use axum::extract::Request;
use axum::http::StatusCode;
use serde_json::{Value, json as object};

use crate::schema::{holds, is_a};
use crate::stage::{Answer, Stage, bare, block_on, get, json, text, with};

bailiwick_testkit::tests!(
    a_tool_goes_from_its_document_to_its_call,
    a_document_with_mistakes_is_told_mistake_by_mistake,
    a_tool_is_replaced_only_at_the_version_that_was_seen,
    a_tool_that_is_not_there_is_not_found,
    strange_requests_are_never_a_fault_of_ours,
);

pub(crate) const ADD: &str = "
name: add
title: Add
description: Adds two whole numbers and gives their sum.
params:
  - {name: a, type: INTEGER, required: true, description: The first number, testValue: 40}
  - {name: b, type: INTEGER, required: true, description: The second number, testValue: 2}
output: {type: integer}
tests:
  - {name: small numbers, input: {a: 1, b: 2}, equals: 3}
code: |
  console.log('adding', a, b);
  return a + b;
";

/// Asks, and holds the answer to the document.
pub(crate) async fn ask(stage: &Stage, operation: &str, request: Request, status: StatusCode) -> Answer {
    let answer = stage.ask(request).await;
    assert_eq!(answer.status, status, "{operation}: {}", answer.text);
    holds(operation, &answer);
    answer
}

pub(crate) fn yaml(method: &str, uri: &str, body: &str) -> Request {
    text(method, uri, "application/yaml", body)
}

fn call(uri: &str) -> Request {
    let body = object!({"tool": "add", "arguments": {"a": 20, "b": 22}});
    with(json("POST", uri, &body), "x-correlation-id", "my-cause")
}

fn a_tool_goes_from_its_document_to_its_call() {
    block_on(async {
        let stage = Stage::real().await;
        let ok = StatusCode::OK;
        ask(&stage, "GET /readyz", get("/readyz"), ok).await;
        let made = ask(&stage, "POST /v1/tools", yaml("POST", "/v1/tools", ADD), StatusCode::CREATED).await;
        assert_eq!((made.json()["state"].as_str(), made.header("etag")), (Some("DRAFT"), "\"1\""));
        let shown = ask(&stage, "GET /v1/tools/{tool}", get("/v1/tools/add"), ok).await;
        assert_eq!(shown.json()["level"], "L0");
        ask(&stage, "POST /v1/tools/check", yaml("POST", "/v1/tools/check", ADD), ok).await;
        let body = object!({"document": ADD});
        let tried = ask(&stage, "POST /v1/tools/try", json("POST", "/v1/tools/try", &body), ok).await;
        assert_eq!(tried.json()["passed"], true);
        let early = bare("POST", "/v1/tools/add/publish");
        ask(&stage, "POST /v1/tools/{tool}/publish", early, StatusCode::CONFLICT).await;
        let tested = bare("POST", "/v1/tools/add/test");
        let tested = ask(&stage, "POST /v1/tools/{tool}/test", tested, ok).await;
        assert_eq!(tested.json()["passed"], true, "{}", tested.text);
        let published = bare("POST", "/v1/tools/add/publish");
        let published = ask(&stage, "POST /v1/tools/{tool}/publish", published, ok).await;
        assert_eq!(published.json()["tool"]["state"], "PUBLISHED");
        let listed = ask(&stage, "GET /v1/tools", get("/v1/tools"), ok).await;
        assert_eq!(listed.json()["tools"][0]["name"], "add");

        let called = ask(&stage, "POST /v1/execute", call("/v1/execute"), ok).await;
        assert_eq!((&called.json()["ok"], &called.json()["value"]), (&object!(true), &object!(42)));
        assert_eq!(called.header("x-correlation-id"), "my-cause");
        let streamed = stage.ask(call("/v1/execute?stream")).await.text;
        assert!(streamed.contains("event: log\ndata: {") && streamed.contains("adding 20 22"), "{streamed}");
        let last = streamed.split("event: result\ndata: ").nth(1).expect("a result");
        let report: Value = serde_json::from_str(last.trim()).expect("a report");
        is_a("CallReport", &report);

        let records = ask(&stage, "GET /v1/audit/{about}", get("/v1/audit/my-cause"), ok).await;
        assert_eq!(records.json()["records"].as_array().map(Vec::len), Some(4), "{}", records.text);
        ask(&stage, "GET /v1/audit", get("/v1/audit?limit=500"), ok).await;
        let verified = bare("POST", "/v1/audit/verify");
        let verified = ask(&stage, "POST /v1/audit/verify", verified, ok).await;
        assert_eq!(verified.json()["ok"], true, "{}", verified.text);
        let exported = ask(&stage, "GET /v1/audit/export", get("/v1/audit/export"), ok).await;
        assert!(exported.text.lines().count() >= 6, "{}", exported.text);
        let document = ask(&stage, "GET /v1/tools/{tool}/document", get("/v1/tools/add/document"), ok).await;
        assert!(document.text.contains("name: add"), "{}", document.text);
        let gone = bare("DELETE", "/v1/tools/add");
        ask(&stage, "DELETE /v1/tools/{tool}", gone, StatusCode::NO_CONTENT).await;
    });
}

fn a_document_with_mistakes_is_told_mistake_by_mistake() {
    block_on(async {
        let stage = Stage::real().await;
        let wrong = yaml("POST", "/v1/tools", "name: add\nparams: [{name: a, type: NUMBR}]\n");
        let answer = ask(&stage, "POST /v1/tools", wrong, StatusCode::BAD_REQUEST).await;
        let problem = answer.json();
        assert_eq!(problem["code"], "VALIDATION");
        let faults = problem["faults"].as_array().expect("faults");
        assert!(faults.len() >= 2, "{problem:#}");
        assert!(
            faults.iter().any(|fault| fault["path"] == "params[0].type" && fault["line"] == 2),
            "{problem:#}"
        );
    });
}

fn a_tool_is_replaced_only_at_the_version_that_was_seen() {
    block_on(async {
        let stage = Stage::real().await;
        stage.ask(yaml("POST", "/v1/tools", ADD)).await;
        let id = stage.ask(get("/v1/tools/add")).await.json()["id"].as_str().expect("an id").to_owned();
        let renamed = ADD.replace("name: add\n", "name: plus\n");
        let operation = "PUT /v1/tools/{tool}";
        let outdated = with(yaml("PUT", "/v1/tools/add", &renamed), "if-match", "\"9\"");
        let answer = ask(&stage, operation, outdated, StatusCode::CONFLICT).await;
        assert!(answer.text.contains("version 1"), "{}", answer.text);
        let seen = with(yaml("PUT", "/v1/tools/add", &renamed), "if-match", "\"1\"");
        let answer = ask(&stage, operation, seen, StatusCode::OK).await;
        assert_eq!((answer.header("etag"), &answer.json()["id"]), ("\"2\"", &object!(id)));
        // The same again changes nothing, and so is at the same version.
        let again = yaml("PUT", &format!("/v1/tools/{id}"), &renamed);
        let answer = ask(&stage, operation, again, StatusCode::OK).await;
        assert_eq!((answer.header("etag"), &answer.json()["change"]), ("\"2\"", &object!("same")));
        let nothing = yaml("PUT", "/v1/tools/add", &renamed);
        ask(&stage, operation, nothing, StatusCode::NOT_FOUND).await;
        let other = format!("id: 0190a0b0-0000-7000-8000-000000000001\n{}", renamed.trim_start());
        let other = yaml("PUT", "/v1/tools/plus", &other);
        ask(&stage, operation, other, StatusCode::BAD_REQUEST).await;
    });
}

fn a_tool_that_is_not_there_is_not_found() {
    block_on(async {
        let stage = Stage::real().await;
        let not_found = StatusCode::NOT_FOUND;
        let answer = ask(&stage, "POST /v1/execute", call("/v1/execute"), not_found).await;
        assert_eq!(answer.json()["instance"], "my-cause");
        ask(&stage, "GET /v1/tools/{tool}", get("/v1/tools/nothing"), not_found).await;
        ask(&stage, "DELETE /v1/tools/{tool}", bare("DELETE", "/v1/tools/nothing"), not_found).await;
        ask(&stage, "GET /v1/audit/{about}", get("/v1/audit/nothing"), not_found).await;
    });
}

fn strange_requests_are_never_a_fault_of_ours() {
    block_on(async {
        let stage = Stage::real().await;
        let most = u64::MAX;
        let body = |uri: &str, body: &Value| json("POST", uri, body);
        let requests = [
            get("/v1/tools/%00"),
            get("/v1/tools/%F0%9F%98%80"),
            get("/v1/tools/a%2Fb"),
            get(&format!("/v1/tools/{}", "x".repeat(5000))),
            get("/v1/tools?after="),
            get(&format!("/v1/audit/{most}")),
            get(&format!("/v1/audit/export?from={most}")),
            get("/v1/audit?after=MTg0NDY3NDQwNzM3MDk1NTE2MTU"),
            body("/v1/audit/retain", &object!({"records": most, "days": u32::MAX})),
            body("/v1/audit/retain", &object!({})),
            body("/v1/tools", &object!({"document": 5})),
            body("/v1/tools", &object!({"document": null, "name": "\u{0}"})),
            body("/v1/tools", &object!({"document": {"name": "a", "code": "\u{0}"}, "name": "../../a"})),
            body("/v1/tools/import", &object!({"documents": []})),
            body("/v1/tools/export", &Value::Null),
            body("/v1/tools/export", &object!({"tools": [""]})),
            body("/v1/tools/test", &object!({"which": {"named": []}})),
            body("/v1/tools//test", &Value::Null),
            body("/v1/execute", &object!({"tool": "", "workspace": "/"})),
            text("PUT", "/v1/tools/%20", "application/yaml", "&a [*a]"),
            text("POST", "/v1/tools", "application/yaml", &"[".repeat(60_000)),
        ];
        for request in requests {
            let shown = format!("{} {}", request.method(), request.uri());
            let answer = stage.ask(request).await;
            assert!(answer.status.as_u16() < 500, "{shown}: {}", answer.text);
            if !answer.status.is_success() {
                is_a("Problem", &answer.json());
            }
        }
    });
}
