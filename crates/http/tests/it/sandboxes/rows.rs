//! Every operation on sandboxes as a row: which action a request becomes, and which answer its reply.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use bailiwick_core::sandboxes::{
    CommandWish, ExecWish, ExposedPort, FileWish, GivenInput, InputBytes, Limit, Mount, Overlay, ReviewWish,
    SandboxPath, SandboxWish, Target,
};
use bailiwick_core::{Action, Reply};
use bailiwick_types::Tier;
use serde_json::{Value, json as object};

use crate::operations::{Row, cause, row};
use crate::replies;
use crate::stage::{bare, get, json, with};

pub(super) fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).expect("a path")
}

pub(super) fn bytes(method: &str, uri: &str, body: impl Into<Body>) -> Request {
    let request =
        Request::builder().method(method).uri(uri).header("content-type", "application/octet-stream");
    request.body(body.into()).expect("a request")
}

pub(super) fn exec(target: Target, command: CommandWish) -> Action {
    Action::SandboxExec(Box::new(ExecWish { target, command, correlation: Some(cause()) }))
}

pub(super) fn said(argv: &[&str], kept: bool) -> CommandWish {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    CommandWish { argv, keep_output: kept, ..CommandWish::default() }
}

pub(super) fn kept() -> Target {
    Target::Kept("one".to_owned())
}

/// A wish with something in every field, and how it is written.
pub(super) fn wish() -> SandboxWish {
    let one = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    SandboxWish {
        name: Some("one".to_owned()),
        backend: Some("process".to_owned()),
        tier: Some(Tier::Container),
        preset: Some("dev".to_owned()),
        limits: [(Limit::Memory, "64MiB".to_owned()), (Limit::Timeout, "5s".to_owned())].into(),
        image: Some("debian".to_owned()),
        network: Some("allow:example.test:443".to_owned()),
        mounts: vec![Mount { from: "/srv/data".into(), to: path("/data"), writable: true }],
        overlays: vec![Overlay { from: "/srv/code".into(), to: path("/work") }],
        expose: vec![8080],
        env: one("A", "b"),
        workdir: Some(path("/work")),
        snapshot: Some("0190".to_owned()),
        labels: one("team", "x"),
        idle: Some("5m".to_owned()),
        absolute: Some("1h".to_owned()),
        correlation: Some(cause()),
        // Neither is anything for a wire.
        secrets: Vec::new(),
        commit: false,
    }
}

pub(super) fn written() -> Value {
    object!({
        "name": "one", "backend": "process", "tier": "CONTAINER", "preset": "dev",
        "limits": {"memory": "64MiB", "timeout": "5s"}, "image": "debian", "network": "allow:example.test:443",
        "mounts": [{"from": "/srv/data", "to": "/data", "writable": true}],
        "overlays": [{"from": "/srv/code", "to": "/work"}], "expose": [8080], "env": {"A": "b"},
        "workdir": "/work", "snapshot": "0190", "labels": {"team": "x"}, "idle": "5m", "absolute": "1h",
        "correlationId": "cause-1",
    })
}

pub(super) fn caused(request: Request) -> Request {
    with(request, "x-correlation-id", "cause-1")
}

/// Every operation on sandboxes.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = kept_ones();
    rows.extend(commands());
    rows.extend(files());
    rows.extend(review());
    rows.extend(ports());
    rows
}

fn kept_ones() -> Vec<Row> {
    let one = || "one".to_owned();
    let view = || Reply::Sandbox(Box::new(replies::sandbox_view()));
    let (created, done) = (StatusCode::CREATED, StatusCode::NO_CONTENT);
    let plain = SandboxWish { correlation: Some(cause()), ..SandboxWish::default() };
    let create = |wish| Action::SandboxCreate(Box::new(wish));
    vec![
        row(
            "POST /v1/sandboxes",
            || json("POST", "/v1/sandboxes", &written()),
            create(wish()),
            view(),
            created,
        ),
        row(
            "POST /v1/sandboxes",
            || caused(json("POST", "/v1/sandboxes", &object!({}))),
            create(plain),
            view(),
            created,
        ),
        row(
            "GET /v1/sandboxes",
            || get("/v1/sandboxes?limit=10"),
            Action::SandboxList,
            Reply::Sandboxes(vec![replies::sandbox_line()]),
            StatusCode::OK,
        ),
        row(
            "GET /v1/sandboxes/{sandbox}",
            || get("/v1/sandboxes/one"),
            Action::SandboxShow { sandbox: one() },
            view(),
            StatusCode::OK,
        ),
        row(
            "DELETE /v1/sandboxes/{sandbox}",
            || bare("DELETE", "/v1/sandboxes/one"),
            Action::SandboxRemove { sandbox: one() },
            Reply::Done,
            done,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/snapshot",
            || bare("POST", "/v1/sandboxes/one/snapshot"),
            Action::SandboxSnapshot { sandbox: one() },
            Reply::Snapshots(vec![replies::snapshot_line()]),
            created,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/hibernate",
            || bare("POST", "/v1/sandboxes/one/hibernate"),
            Action::SandboxHibernate { sandbox: one() },
            Reply::Done,
            done,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/resume",
            || bare("POST", "/v1/sandboxes/one/resume"),
            Action::SandboxResume { sandbox: one() },
            Reply::Done,
            done,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/stop",
            || bare("POST", "/v1/sandboxes/one/stop"),
            Action::SandboxStop { sandbox: one() },
            Reply::Done,
            done,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/fork",
            || json("POST", "/v1/sandboxes/one/fork", &object!({"name": "two"})),
            Action::SandboxFork { sandbox: one(), name: Some("two".to_owned()) },
            view(),
            created,
        ),
        row(
            "GET /v1/snapshots",
            || get("/v1/snapshots"),
            Action::SnapshotList,
            Reply::Snapshots(vec![replies::snapshot_line()]),
            StatusCode::OK,
        ),
        row(
            "DELETE /v1/snapshots/{snapshot}",
            || bare("DELETE", "/v1/snapshots/0190"),
            Action::SnapshotForget { snapshot: "0190".to_owned() },
            Reply::Done,
            done,
        ),
    ]
}

fn commands() -> Vec<Row> {
    let ran = || Reply::Executed(Box::new(replies::executed()));
    let full = CommandWish {
        shell: Some("cat".to_owned()),
        cwd: Some(path("/tmp")),
        env: [("A".to_owned(), "b".to_owned())].into(),
        input: GivenInput::Bytes(InputBytes::new("given")),
        timeout: Some("5s".to_owned()),
        ..said(&[], true)
    };
    vec![
        row(
            "POST /v1/exec",
            || {
                let body = object!({"argv": ["id"], "stdinBase64": "Z2l2ZW4=", "sandbox": written()});
                caused(json("POST", "/v1/exec", &body))
            },
            exec(
                Target::Fresh(Box::new(wish())),
                CommandWish { input: GivenInput::Bytes(InputBytes::new("given")), ..said(&["id"], true) },
            ),
            ran(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/exec",
            || {
                let body = object!({
                    "shell": "cat", "cwd": "/tmp", "env": {"A": "b"}, "stdin": "given", "timeout": "5s",
                    "correlationId": "cause-1"
                });
                json("POST", "/v1/sandboxes/one/exec", &body)
            },
            exec(kept(), full),
            ran(),
            StatusCode::OK,
        ),
        row(
            "GET /v1/sandboxes/{sandbox}/exec",
            || get("/v1/sandboxes/one/exec"),
            Action::SandboxShow { sandbox: "one".to_owned() },
            Reply::Sandbox(Box::new(replies::sandbox_view())),
            // It is no WebSocket.
            StatusCode::BAD_REQUEST,
        ),
    ]
}

fn files() -> Vec<Row> {
    let files = |wish| Action::SandboxFiles { sandbox: "one".to_owned(), wish };
    let file = || path("/work/a.txt");
    vec![
        row(
            "GET /v1/sandboxes/{sandbox}/files",
            || get("/v1/sandboxes/one/files?path=/work/a.txt"),
            files(FileWish::Read { path: file() }),
            Reply::FileBytes(InputBytes::new("held")),
            StatusCode::OK,
        ),
        row(
            "GET /v1/sandboxes/{sandbox}/files",
            || get("/v1/sandboxes/one/files?path=/work&list=true"),
            files(FileWish::List { path: path("/work") }),
            Reply::FileEntries(vec![replies::entry()]),
            StatusCode::OK,
        ),
        row(
            "PUT /v1/sandboxes/{sandbox}/files",
            || bytes("PUT", "/v1/sandboxes/one/files?path=/work/a.txt&executable=true", "held"),
            files(FileWish::Write { path: file(), bytes: InputBytes::new("held"), executable: true }),
            Reply::Done,
            StatusCode::NO_CONTENT,
        ),
        row(
            "DELETE /v1/sandboxes/{sandbox}/files",
            || bare("DELETE", "/v1/sandboxes/one/files?path=/work/a.txt"),
            files(FileWish::Remove { path: file() }),
            Reply::Done,
            StatusCode::NO_CONTENT,
        ),
    ]
}

fn review() -> Vec<Row> {
    let one = || "one".to_owned();
    let landed = || Reply::Landed(Box::new(replies::landed()));
    let shown = || Reply::Changes(Box::new(replies::shown()));
    let some = || ReviewWish {
        at: Some(path("/work")),
        paths: vec!["a.txt".to_owned(), "deep/b c".to_owned()],
        ..ReviewWish::default()
    };
    vec![
        row(
            "GET /v1/sandboxes/{sandbox}/diff",
            || get("/v1/sandboxes/one/diff"),
            Action::SandboxDiff { sandbox: one(), wish: ReviewWish::default() },
            shown(),
            StatusCode::OK,
        ),
        row(
            "GET /v1/sandboxes/{sandbox}/diff",
            || get("/v1/sandboxes/one/diff?path=a.txt&path=deep%2Fb+c&at=/work&patchBytes=100"),
            Action::SandboxDiff { sandbox: one(), wish: ReviewWish { patch_bytes: Some(100), ..some() } },
            shown(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/commit",
            || {
                let body = object!({"at": "/work", "paths": ["a.txt", "deep/b c"], "linksOut": true});
                json("POST", "/v1/sandboxes/one/commit", &body)
            },
            Action::SandboxCommit { sandbox: one(), wish: ReviewWish { links_out: true, ..some() } },
            landed(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/commit",
            || bare("POST", "/v1/sandboxes/one/commit"),
            Action::SandboxCommit { sandbox: one(), wish: ReviewWish::default() },
            landed(),
            StatusCode::OK,
        ),
        row(
            "POST /v1/sandboxes/{sandbox}/discard",
            || {
                let body = object!({"at": "/work", "paths": ["a.txt", "deep/b c"]});
                json("POST", "/v1/sandboxes/one/discard", &body)
            },
            Action::SandboxDiscard { sandbox: one(), wish: some() },
            landed(),
            StatusCode::OK,
        ),
    ]
}

fn ports() -> Vec<Row> {
    let one = || "one".to_owned();
    vec![
        row(
            "POST /v1/sandboxes/{sandbox}/ports",
            || json("POST", "/v1/sandboxes/one/ports", &object!({"port": 8080})),
            Action::SandboxExpose { sandbox: one(), port: 8080 },
            Reply::Exposed { port: 8080, host_port: 40_000 },
            StatusCode::OK,
        ),
        row(
            "GET /v1/sandboxes/{sandbox}/ports",
            || get("/v1/sandboxes/one/ports"),
            Action::SandboxPorts { sandbox: one() },
            Reply::Ports(vec![ExposedPort { port: 8080, host_port: 40_000 }]),
            StatusCode::OK,
        ),
    ]
}
