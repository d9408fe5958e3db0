//! Every operation of the document: which action a request becomes, and which answer its reply.
//!
//! A route that has no row in [`all`] is a failing test.

use std::collections::BTreeSet;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode};
use bailiwick_core::{
    Action, Change, Code, CodeRun, Document, KeyWish, Reasons, Refusal, Remember, RememberedFor, Reply, Which,
};
use bailiwick_types::{CorrelationId, ErrorCode, Outcome, Scope, Scopes};
use serde_json::{Map, Value, json as object};

use crate::replies::{self, ID};
use crate::resource::jwt;
use crate::schema::{holds, operation, operations};
use crate::stage::{Answer, Stage, bare, block_on, get, json, principal, text, with};

bailiwick_testkit::tests!(
    every_operation_of_the_document_has_a_row_here,
    a_request_becomes_its_action_and_the_reply_its_answer,
    a_refusal_is_a_problem_with_its_status,
    nobody_gets_an_answer_without_a_principal,
    documents_come_as_json_or_as_text,
    a_tool_may_be_named_like_a_word_of_a_path,
);

/// One operation with a request, the actions it becomes, what is replied and the status of the answer.
pub(crate) struct Row {
    pub(crate) operation: &'static str,
    pub(crate) request: fn() -> Request,
    actions: Vec<Action>,
    replies: Vec<Reply>,
    status: StatusCode,
}

pub(crate) fn row(
    operation: &'static str,
    request: fn() -> Request,
    action: Action,
    reply: Reply,
    status: StatusCode,
) -> Row {
    Row { operation, request, actions: vec![action], replies: vec![reply], status }
}

/// The arguments `{"a": 1}`.
fn arguments() -> Map<String, Value> {
    object!({"a": 1}).as_object().cloned().unwrap_or_default()
}

pub(crate) fn cause() -> CorrelationId {
    CorrelationId::parse("cause-1").expect("an id")
}

fn named(name: &str, text: &str) -> Document {
    Document { name: name.to_owned(), text: text.to_owned() }
}

/// The document `{"name":"add"}` as it arrives.
fn add() -> Document {
    named("document.tool.json", r#"{"name":"add"}"#)
}

/// Every operation.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = execution();
    rows.extend(kept());
    rows.extend(lifecycle());
    rows.extend(crate::sandboxes::rows());
    rows.extend(approvals());
    rows.extend(credentials());
    rows.extend(record());
    rows
}

fn execution() -> Vec<Row> {
    let run = CodeRun {
        code: Code { text: "return a".to_owned(), entry: "body".to_owned(), language: "ts".to_owned() },
        name: "code".to_owned(),
        arguments: arguments(),
        overrides: Some(object!({"network": "strict"})),
        profile: Some("web".to_owned()),
        limits: Some(object!({"wall": "1s"})),
        correlation: Some(cause()),
        always_asks: false,
    };
    let call = Action::ToolCall {
        tool: "add".to_owned(),
        arguments: arguments(),
        correlation: Some(cause()),
        workspace: Some("shared".to_owned()),
    };
    let code = Code { text: "1".to_owned(), entry: "expression".to_owned(), language: "js".to_owned() };
    let returned = || Reply::Called(Box::new(replies::report(Outcome::Returned(object!(3)))));
    let failed = Reply::Called(Box::new(replies::report(Outcome::Failed(Box::new(replies::failure())))));
    vec![
        row(
            "GET /v1/execution/limits",
            || get("/v1/execution/limits"),
            Action::Limits,
            Reply::Limits(replies::limits()),
            StatusCode::OK,
        ),
        row(
            "POST /v1/execute",
            || {
                let body = object!({"tool": "add", "arguments": {"a": 1}, "workspace": "shared"});
                with(json("POST", "/v1/execute", &body), "x-correlation-id", "cause-1")
            },
            call,
            failed,
            StatusCode::OK,
        ),
        row(
            "POST /v1/execute",
            || {
                let body = object!({
                    "code": "return a", "language": "ts", "arguments": {"a": 1}, "profile": "web",
                    "overrides": {"network": "strict"}, "limits": {"wall": "1s"}, "correlationId": "cause-1"
                });
                json("POST", "/v1/execute", &body)
            },
            Action::CodeRun(Box::new(run)),
            returned(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/validate",
            || json("POST", "/v1/validate", &object!({"code": "1", "entry": "expression"})),
            Action::CodeCheck { code },
            Reply::CodeChecked(replies::code_checked()),
            StatusCode::OK,
        ),
    ]
}

fn kept() -> Vec<Row> {
    let import = |documents, approval_off| Action::ToolImport { documents, approval_off };
    vec![
        row(
            "GET /v1/tools",
            || get("/v1/tools?limit=10"),
            Action::ToolList { after: None, limit: 11 },
            Reply::Tools(vec![replies::line()]),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools",
            || json("POST", "/v1/tools", &object!({"document": {"name": "add"}})),
            import(vec![add()], false),
            Reply::Imported(vec![replies::imported(Change::Added)]),
            StatusCode::CREATED,
        ),
        row(
            "POST /v1/tools",
            || text("POST", "/v1/tools", "application/yaml", "name: add"),
            import(vec![named("document.tool.yaml", "name: add")], false),
            Reply::Imported(vec![replies::imported(Change::Changed)]),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/import",
            || {
                let documents = object!([{"name": "add.js", "text": "return 1"}]);
                json("POST", "/v1/tools/import", &object!({"documents": documents, "approvalOff": true}))
            },
            import(vec![named("add.js", "return 1")], true),
            Reply::Imported(vec![replies::imported(Change::Same)]),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/export",
            || bare("POST", "/v1/tools/export"),
            Action::ToolExport { tools: Vec::new() },
            Reply::Exported(vec![named("add.tool.yaml", "name: add")]),
            StatusCode::OK,
        ),
        row(
            "GET /v1/tools/{tool}",
            || get("/v1/tools/add"),
            Action::ToolShow { tool: "add".to_owned() },
            Reply::Tool(Box::new(replies::view())),
            StatusCode::OK,
        ),
        row(
            "PUT /v1/tools/{tool}",
            || {
                let body = object!({"document": {"name": "add"}, "approvalOff": true});
                with(json("PUT", "/v1/tools/add", &body), "if-match", "\"7\"")
            },
            Action::ToolReplace {
                tool: "add".to_owned(),
                version: Some(7),
                document: add(),
                approval_off: true,
            },
            Reply::Imported(vec![replies::imported(Change::Texts)]),
            StatusCode::OK,
        ),
        row(
            "DELETE /v1/tools/{tool}",
            || bare("DELETE", "/v1/tools/add"),
            Action::ToolRemove { tool: "add".to_owned() },
            Reply::Done,
            StatusCode::NO_CONTENT,
        ),
        row(
            "GET /v1/tools/{tool}/document",
            || get("/v1/tools/add/document"),
            Action::ToolExport { tools: vec!["add".to_owned()] },
            Reply::Exported(vec![named("add.tool.yaml", "name: add")]),
            StatusCode::OK,
        ),
    ]
}

fn lifecycle() -> Vec<Row> {
    let reasons = Reasons { justification: Some("needed".to_owned()), despite_scan: None };
    let tested = || Reply::Tested(vec![replies::tested()]);
    let published = || Reply::Published(Box::new(replies::published()));
    vec![
        row(
            "POST /v1/tools/check",
            || json("POST", "/v1/tools/check", &object!({"document": {"name": "add"}})),
            Action::ToolCheck { document: add() },
            Reply::Checked(Box::new(replies::checked())),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/policy",
            || json("POST", "/v1/tools/policy", &object!({"document": {"name": "add"}})),
            Action::ToolPolicy { document: add() },
            Reply::Policy(Box::new(replies::policy())),
            StatusCode::OK,
        ),
        Row {
            operation: "GET /v1/tools/{tool}/policy",
            request: || get("/v1/tools/add/policy"),
            actions: vec![
                Action::ToolExport { tools: vec!["add".to_owned()] },
                Action::ToolPolicy { document: named("add.tool.yaml", "name: add") },
            ],
            replies: vec![
                Reply::Exported(vec![named("add.tool.yaml", "name: add")]),
                Reply::Policy(Box::new(replies::policy())),
            ],
            status: StatusCode::OK,
        },
        row(
            "POST /v1/tools/try",
            || json("POST", "/v1/tools/try", &object!({"document": {"name": "add"}, "live": true})),
            Action::ToolTry { document: add(), live: true },
            tested(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/{tool}/test",
            || bare("POST", "/v1/tools/add/test"),
            Action::ToolTest { which: Which::Named(vec!["add".to_owned()]), live: false },
            tested(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/test",
            || json("POST", "/v1/tools/test", &object!({"which": "stale", "live": true})),
            Action::ToolTest { which: Which::Stale, live: true },
            tested(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/{tool}/publish",
            || json("POST", "/v1/tools/add/publish", &object!({"justification": "needed"})),
            Action::ToolPublish { tool: "add".to_owned(), reasons: reasons.clone() },
            published(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/publish",
            || {
                let body = object!({"document": {"name": "add"}, "justification": "needed"});
                json("POST", "/v1/tools/publish", &body)
            },
            Action::ToolPublishDocument { document: add(), reasons, approval_off: false },
            published(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/tools/{tool}/unpublish",
            || bare("POST", "/v1/tools/add/unpublish"),
            Action::ToolUnpublish { tool: "add".to_owned() },
            Reply::Tools(vec![replies::line()]),
            StatusCode::OK,
        ),
    ]
}

fn approvals() -> Vec<Row> {
    let remember = Remember { what: RememberedFor::Key, minutes: 10 };
    let id = replies::approval_id();
    vec![
        row(
            "GET /v1/approvals",
            || get("/v1/approvals"),
            Action::ApprovalList,
            Reply::Approvals(vec![replies::waiting()]),
            StatusCode::OK,
        ),
        row(
            "POST /v1/approvals/{id}",
            || {
                let body = object!({"answer": "yes", "remember": {"what": "key", "minutes": 10}});
                json("POST", &format!("/v1/approvals/{ID}"), &body)
            },
            Action::ApprovalAnswer { id, yes: true, remember: Some(remember) },
            Reply::Done,
            StatusCode::NO_CONTENT,
        ),
        row(
            "GET /v1/approvals/remembered",
            || get("/v1/approvals/remembered"),
            Action::ApprovalRemembered,
            Reply::Remembered(vec![replies::remembered()]),
            StatusCode::OK,
        ),
        row(
            "DELETE /v1/approvals/remembered/{id}",
            || bare("DELETE", &format!("/v1/approvals/remembered/{ID}")),
            Action::ApprovalForget { id },
            Reply::Done,
            StatusCode::NO_CONTENT,
        ),
    ]
}

fn credentials() -> Vec<Row> {
    let wish = KeyWish {
        name: "bot".to_owned(),
        scopes: Scopes::of([Scope::Call, Scope::Author]),
        expires_in_s: Some(60),
        per_second: None,
        at_once: None,
        dialogue: true,
    };
    vec![
        row(
            "GET /v1/keys",
            || get("/v1/keys"),
            Action::KeyList,
            Reply::Keys(vec![replies::key_line()]),
            StatusCode::OK,
        ),
        row(
            "POST /v1/keys",
            || {
                let body = object!({"name": "bot", "scopes": ["author", "call"], "expiresInS": 60, "dialogue": true});
                json("POST", "/v1/keys", &body)
            },
            Action::KeyCreate(wish),
            Reply::KeyMade(Box::new(replies::key_made())),
            StatusCode::CREATED,
        ),
        row(
            "DELETE /v1/keys/{key}",
            || bare("DELETE", "/v1/keys/bot"),
            Action::KeyRevoke { key: "bot".to_owned() },
            Reply::Done,
            StatusCode::NO_CONTENT,
        ),
        row(
            "GET /v1/secrets",
            || get("/v1/secrets"),
            Action::SecretList,
            Reply::Secrets(vec![replies::secret()]),
            StatusCode::OK,
        ),
    ]
}

fn record() -> Vec<Row> {
    vec![
        row(
            "GET /v1/audit",
            || get("/v1/audit?limit=2&order=oldest"),
            Action::AuditPage { from: None, newest_first: false, limit: 3 },
            Reply::Records(vec![replies::record(1)]),
            StatusCode::OK,
        ),
        row(
            "GET /v1/audit/{about}",
            || get("/v1/audit/cause-1"),
            Action::AuditShow { about: "cause-1".to_owned() },
            Reply::Records(vec![replies::record(1)]),
            StatusCode::OK,
        ),
        row(
            "POST /v1/audit/verify",
            || bare("POST", "/v1/audit/verify"),
            Action::AuditVerify,
            Reply::Verified(replies::verified()),
            StatusCode::OK,
        ),
        row(
            "GET /v1/audit/export",
            || get("/v1/audit/export?from=4"),
            Action::AuditExport { from: 4, limit: 500 },
            Reply::Lines(replies::lines(4, None)),
            StatusCode::OK,
        ),
        row(
            "POST /v1/audit/retain",
            || json("POST", "/v1/audit/retain", &object!({"days": 30})),
            Action::AuditRetain { days: Some(30), records: None },
            Reply::Retained { removed: 5 },
            StatusCode::OK,
        ),
        row("GET /v1/events", || get("/v1/events"), Action::Watch, Reply::Done, StatusCode::OK),
    ]
}

/// Operations that ask nobody, or that ask without a caller.
const ALONE: &[&str] = &["GET /healthz", "GET /readyz", "GET /v1/openapi.json"];

/// Operations that tell what only the perimeter knows.
const AT_THE_DOOR: &[&str] =
    &["GET /.well-known/oauth-protected-resource", "GET /.well-known/oauth-protected-resource/mcp"];

fn every_operation_of_the_document_has_a_row_here() {
    let rows: BTreeSet<String> = all()
        .iter()
        .map(|row| row.operation.to_owned())
        .chain(ALONE.iter().chain(AT_THE_DOOR).map(|name| (*name).to_owned()))
        .collect();
    assert_eq!(rows, operations());
}

fn a_request_becomes_its_action_and_the_reply_its_answer() {
    block_on(async {
        for Row { operation, request, actions, replies, status } in all() {
            let left = std::sync::Mutex::new(replies.into_iter());
            let stage = Stage::script(move |_, _| {
                let next = left.lock().expect("not poisoned").next();
                Box::pin(std::future::ready(Ok(next.expect("another reply"))))
            })
            .await;
            let answer = stage.ask(request()).await;
            assert_eq!(answer.status, status, "{operation}: {}", answer.text);
            assert_eq!(stage.asked(), actions, "{operation}");
            holds(operation, &answer);
            assert!(answer.headers.contains_key("x-correlation-id"), "{operation}");
        }
        let stage = Stage::replying(Ok(Reply::Tools(Vec::new()))).await;
        for operation in ALONE {
            let (_, path) = operation.split_once(' ').expect("a path");
            let answer = Answer::of(stage.send_alone(get(path)).await).await;
            assert_eq!(answer.status, StatusCode::OK, "{operation}: {}", answer.text);
            holds(operation, &answer);
        }
        for (jwt, status) in [(None, StatusCode::NOT_FOUND), (Some(jwt("bailiwick")), StatusCode::OK)] {
            let stage = Stage::replying(Ok(Reply::Done)).await;
            let bound = "127.0.0.1:4646".parse().expect("an address");
            let door = stage.door(bound, |server| server.jwt = jwt);
            for operation in AT_THE_DOOR {
                let (_, path) = operation.split_once(' ').expect("a path");
                let answer = Answer::of(door.send(get(path)).await).await;
                assert_eq!(answer.status, status, "{operation}: {}", answer.text);
                holds(operation, &answer);
            }
        }
    });
}

fn a_refusal_is_a_problem_with_its_status() {
    let codes = [
        (ErrorCode::Validation, 400, None),
        (ErrorCode::InvalidInput, 400, None),
        (ErrorCode::MissingSecret, 400, None),
        (ErrorCode::Forbidden, 403, None),
        (ErrorCode::NotFound, 404, None),
        (ErrorCode::Conflict, 409, None),
        (ErrorCode::Revoked, 409, None),
        (ErrorCode::Stale, 409, None),
        (ErrorCode::RateLimited, 429, Some("1")),
        (ErrorCode::Internal, 500, None),
        (ErrorCode::Unsupported, 501, None),
        (ErrorCode::Busy, 503, Some("1")),
        (ErrorCode::Unavailable, 503, Some("5")),
    ];
    block_on(async {
        for (code, status, retry) in codes {
            let refusal = Refusal::new(code, "no").with_hint("ask").with_faults(vec![replies::fault()]);
            let stage = Stage::replying(Err(refusal)).await;
            for Row { operation: name, request, .. } in all() {
                let documented = operation(name)["responses"].get(status.to_string()).is_some();
                // A stream that began tells by an event.
                if name == "GET /v1/events" || !documented {
                    continue;
                }
                let mut request = request();
                request.headers_mut().insert("x-correlation-id", HeaderValue::from_static("mine"));
                let answer = stage.ask(request).await;
                holds(name, &answer);
                assert_eq!(answer.status.as_u16(), status, "{name}: {}", answer.text);
                assert_eq!(answer.headers.get("retry-after").map(|v| v.to_str().expect("text")), retry);
                let problem = answer.json();
                assert_eq!(problem["code"], code.name(), "{name}");
                assert_eq!(problem["type"], format!("urn:bailiwick:problem:{code}"));
                assert_eq!(problem["title"], code.meaning());
                assert_eq!(problem["instance"], "mine");
                assert_eq!(problem["faults"][0]["path"], "params[0].type");
            }
        }
    });
}

fn nobody_gets_an_answer_without_a_principal() {
    block_on(async {
        let stage = Stage::replying(Ok(Reply::Done)).await;
        for Row { operation, request, .. } in all() {
            let answer = Answer::of(stage.send_alone(request()).await).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{operation}: {}", answer.text);
            holds(operation, &answer);
        }
        assert_eq!(stage.asked(), Vec::new());
        // Whoever it is goes on as they came.
        let scopes = Scopes::of([Scope::Call]);
        let stage = Stage::script(move |caller, _| {
            assert_eq!((caller.scopes, caller.actor.key.as_deref()), (scopes, Some("test")));
            Box::pin(std::future::ready(Ok(Reply::Keys(Vec::new()))))
        })
        .await;
        let answer = Answer::of(stage.send_as(principal(scopes), get("/v1/keys")).await).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    });
}

/// Which document a body becomes.
async fn check_document(kind: &str, body: &str, name: &str, text_of_it: &str) {
    let stage = Stage::replying(Ok(Reply::Checked(Box::new(replies::checked())))).await;
    let answer = stage.ask(text("POST", "/v1/tools/check", kind, body)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(stage.asked(), [Action::ToolCheck { document: named(name, text_of_it) }], "{body}");
}

fn documents_come_as_json_or_as_text() {
    block_on(async {
        check_document("application/yaml", "name: a\n", "document.tool.yaml", "name: a\n").await;
        check_document("text/yaml; charset=utf-8", "name: a", "document.tool.yaml", "name: a").await;
        let json = "application/json";
        check_document(json, r#"{"document": "name: a"}"#, "document.tool.yaml", "name: a").await;
        check_document(json, r#"{"document": "return 1", "name": "a.ts"}"#, "a.ts", "return 1").await;
        check_document(json, r#"{"document": {}, "name": "a"}"#, "a.tool.json", "{}").await;
        check_document(json, r#"{"document": {}, "name": "a.json"}"#, "a.json", "{}").await;
        // What a parser would hide is for the reader of documents to find: a key that is there twice.
        let twice = r#"{"name": "a", "name": "b", "n": 1e999}"#;
        check_document(json, &format!(r#"{{"document": {twice}}}"#), "document.tool.json", twice).await;
    });
}

fn a_tool_may_be_named_like_a_word_of_a_path() {
    block_on(async {
        let stage = Stage::replying(Ok(Reply::Tool(Box::new(replies::view())))).await;
        for word in ["check", "export", "import", "policy", "publish", "test", "try"] {
            let answer = stage.ask(get(&format!("/v1/tools/{word}"))).await;
            assert_eq!(answer.status, StatusCode::OK, "{word}: {}", answer.text);
            holds("GET /v1/tools/{tool}", &answer);
            assert_eq!(stage.asked().last(), Some(&Action::ToolShow { tool: word.to_owned() }));
            stage.ask(bare("DELETE", &format!("/v1/tools/{word}"))).await;
            assert_eq!(stage.asked().last(), Some(&Action::ToolRemove { tool: word.to_owned() }));
            stage.ask(json("PUT", &format!("/v1/tools/{word}"), &object!({"document": {}}))).await;
            assert!(matches!(stage.asked().last(), Some(Action::ToolReplace { tool, .. }) if tool == word));
        }
    });
}
