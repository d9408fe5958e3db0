//! Replies as the inside gives them, with something in every field.

use bailiwick_core::sandboxes::{
    Entry, EntryKind, ExecResult, ExecUsage, Executed, Landed, SandboxChange, SandboxLine, SandboxPath,
    SandboxView, Shown, Snapshot, SnapshotLine,
};
use bailiwick_core::{
    Actor, Change, Checked, CodeChecked, CodeFinding, EffectAsked, ExportPage, Fault, Found, Imported,
    KeyLine, KeyMade, LastYes, Missed, PolicyView, Published, Question, Refusal, RememberedFor,
    RememberedYes, SecretLine, TestLine, TestVerdict, Tested, ToolLine, ToolView, Verified, Waiting,
};
use bailiwick_types::{
    ApprovalId, CallId, CallReport, CapabilityName, CorrelationId, Denial, DenialReason, ErrorCode, Failure,
    Fix, KeyId, LayerName, Location, LogLevel, LogLine, Outcome, Receipt, Risk, RiskLevel, RiskReason,
    SandboxId, Scope, Scopes, SnapshotId, Tier, ToolId, Usage, WallStatus, Wallpart,
};
use serde_json::{Value, json};

/// A time.
pub(crate) const AT: &str = "2026-11-16T07:00:00.000Z";
/// The id of everything.
pub(crate) const ID: &str = "0190a0b0-0000-7000-8000-000000000001";

pub(crate) fn approval_id() -> ApprovalId {
    ApprovalId::parse(ID).expect("an id")
}

pub(crate) fn risk() -> Risk {
    let reason = RiskReason {
        signal: "network allowlist".to_owned(),
        level: RiskLevel::L3,
        detail: "api.github.com".to_owned(),
    };
    Risk { level: RiskLevel::L3, credited: Some(RiskLevel::L2), reasons: vec![reason] }
}

pub(crate) fn failure() -> Failure {
    let denied = Denial {
        code: ErrorCode::NetDenied,
        capability: CapabilityName::from_registry("net.fetch"),
        asked: "GET https://evil.test/".to_owned(),
        rule: "hosts".to_owned(),
        layer: LayerName::Tool,
        reason: DenialReason::HostNotAllowed,
        fix: Some(Fix { overrides: json!({"hosts": ["evil.test"]}), risk: RiskLevel::L3 }),
    };
    Failure {
        code: ErrorCode::NetDenied,
        message: "not allowed".to_owned(),
        hint: Some("allow it".to_owned()),
        location: Some(Location { line: 3, column: 15 }),
        stack: Some("at tool:3:15".to_owned()),
        denied: Some(denied),
    }
}

pub(crate) fn report(outcome: Outcome) -> CallReport {
    let wall = Wallpart {
        demand: "no network".to_owned(),
        mechanism: "net namespace".to_owned(),
        status: WallStatus::Enforced,
    };
    let receipt = Receipt::new(Tier::Process, vec![wall], &[]);
    let cause = CorrelationId::parse("cause-1").expect("an id");
    let usage = Usage {
        wall_ms: 4.1,
        cpu_ms: 1.2,
        steps: 15_000,
        memory_peak: 524_288,
        fetches: 1,
        ..Usage::default()
    };
    let line = LogLine { level: LogLevel::Log, text: "hello".to_owned(), at: 12 };
    CallReport::new(outcome, CallId::parse(ID).expect("an id"), cause, risk(), receipt)
        .with_logs(vec![line], 0)
        .with_usage(usage)
}

pub(crate) fn line() -> ToolLine {
    ToolLine {
        id: ToolId::parse(ID).expect("an id"),
        name: "add".to_owned(),
        title: "Add".to_owned(),
        state: "PUBLISHED".to_owned(),
        level: Some(RiskLevel::L0),
        version: 7,
        updated_at: AT.to_owned(),
    }
}

pub(crate) fn view() -> ToolView {
    ToolView {
        line: line(),
        because: Some("it was revoked".to_owned()),
        document: json!({"name": "add"}),
        hash: "aa".to_owned(),
        texts_hash: "bb".to_owned(),
        risk: Some(risk()),
        policy: Some(json!({"network": {}})),
        approval: true,
        pass: Some(json!({"at": AT})),
        notes: Some(json!({"justification": "needed"})),
        definition: json!({"name": "add"}),
    }
}

pub(crate) fn fault() -> Fault {
    Fault {
        document: "add.tool.yaml".to_owned(),
        path: "params[0].type".to_owned(),
        line: 3,
        column: 9,
        message: "unknown type".to_owned(),
        hint: Some("one of STRING, …".to_owned()),
    }
}

pub(crate) fn finding() -> CodeFinding {
    CodeFinding {
        name: "eval".to_owned(),
        why: "it runs text".to_owned(),
        instead: "write the code".to_owned(),
        line: 1,
        column: 2,
        blocks: true,
    }
}

pub(crate) fn found() -> Found {
    Found {
        path: "description".to_owned(),
        rule: "hidden-instructions".to_owned(),
        meaning: "it speaks to the model".to_owned(),
        blocks: true,
        matched: "ignore".to_owned(),
        offset: 4,
    }
}

pub(crate) fn checked() -> Checked {
    Checked {
        name: "add".to_owned(),
        ok: false,
        warnings: vec![fault()],
        code: vec![finding()],
        code_failure: Some(failure()),
        texts: vec![found()],
        risk: risk(),
        approval: true,
        missing_secrets: vec!["TOKEN".to_owned()],
    }
}

pub(crate) fn test_line() -> TestLine {
    let missed =
        Missed { kind: "equals".to_owned(), message: "3, not 4".to_owned(), diff: Some("-3\n+4".to_owned()) };
    TestLine {
        name: "small numbers".to_owned(),
        verdict: TestVerdict::Failed,
        ms: 1.5,
        misses: vec![missed],
        failure: Some(failure()),
    }
}

pub(crate) fn tested() -> Tested {
    let refused =
        Refusal::new(ErrorCode::MissingSecret, "no TOKEN").with_hint("set it").with_faults(vec![fault()]);
    Tested {
        tool: "add".to_owned(),
        passed: false,
        state: Some("DRAFT".to_owned()),
        lines: vec![test_line()],
        risk: Some(risk()),
        refused: Some(refused),
    }
}

pub(crate) fn imported(change: Change) -> Imported {
    Imported {
        id: ToolId::parse(ID).expect("an id"),
        name: "add".to_owned(),
        change,
        state: "DRAFT".to_owned(),
        version: 7,
        warnings: vec![fault()],
        texts: vec![found()],
    }
}

pub(crate) fn published() -> Published {
    Published {
        tool: line(),
        tested: Some(tested()),
        texts: vec![found()],
        notes: vec!["it waits for a person".to_owned()],
    }
}

pub(crate) fn policy() -> PolicyView {
    PolicyView {
        name: "add".to_owned(),
        risk: risk(),
        policy: json!({"network": {}}),
        policy_hash: "cc".to_owned(),
        approval: true,
        advice: "publish on Local Pass".to_owned(),
    }
}

pub(crate) fn code_checked() -> CodeChecked {
    CodeChecked { ok: false, error: Some(failure()), findings: vec![finding()] }
}

pub(crate) fn limits() -> Value {
    json!({
        "globals": ["JSON"],
        "blocked": [{"name": "require", "capability": null, "why": "there are no modules", "instead": "one file"}],
        "limits": {"wallMs": 5000, "wallMsMax": 30000},
        "fetch": {"network": "blocked"}
    })
}

pub(crate) fn waiting() -> Waiting {
    let effect = EffectAsked {
        capability: "net.fetch".to_owned(),
        effect: "GET https://a.test/".to_owned(),
        layer: "tool".to_owned(),
    };
    let question = Question {
        tool: "add".to_owned(),
        hash: Some("aa".to_owned()),
        policy_hash: "cc".to_owned(),
        call_id: CallId::parse(ID).expect("an id"),
        prompt: Some("Add?".to_owned()),
        risk: risk(),
        code: None,
        workspace: None,
        arguments: json!({"a": 1}),
        actor: Actor { key: Some("bot".to_owned()), client: "http".to_owned() },
        correlation_id: CorrelationId::parse("cause-1").expect("an id"),
        effect: Some(effect),
        deadline_ms: 120_000,
    };
    let last = LastYes {
        arguments: json!({"a": 2}),
        at: AT.to_owned(),
        by: "operator".to_owned(),
        hash: Some("aa".to_owned()),
    };
    Waiting {
        id: approval_id(),
        question,
        asked_at: AT.to_owned(),
        deadline_at: AT.to_owned(),
        remaining_ms: 100,
        last: Some(last),
    }
}

pub(crate) fn remembered() -> RememberedYes {
    RememberedYes {
        id: approval_id(),
        tool: "add".to_owned(),
        hash: "aa".to_owned(),
        policy_hash: "cc".to_owned(),
        what: RememberedFor::Arguments,
        arguments: Some(json!({"a": 1})),
        actor: Actor { key: None, client: "http".to_owned() },
        by: "operator".to_owned(),
        at: AT.to_owned(),
        until: AT.to_owned(),
        used: 3,
    }
}

pub(crate) fn key_line() -> KeyLine {
    KeyLine {
        id: KeyId::parse(ID).expect("an id"),
        name: "bot".to_owned(),
        scopes: Scopes::of([Scope::Call]),
        created_at: AT.to_owned(),
        expires_at: Some(AT.to_owned()),
        revoked_at: Some(AT.to_owned()),
        last_used_at: Some(AT.to_owned()),
        per_second: Some(5),
        at_once: Some(2),
        dialogue: true,
    }
}

pub(crate) fn key_made() -> KeyMade {
    KeyMade { line: key_line(), key: "bwk_sesame".to_owned() }
}

pub(crate) fn secret() -> SecretLine {
    SecretLine { name: "TOKEN".to_owned(), from: "store".to_owned(), set_at: Some(AT.to_owned()) }
}

/// A record as it is shown.
pub(crate) fn record(seq: u64) -> Value {
    json!({
        "seq": seq, "time": AT, "kind": "outcome", "callId": ID, "correlationId": "cause-1",
        "actor": {"key": "bot", "client": "http"}, "action": "tool.call",
        "tool": {"id": ID, "name": "add", "hash": "aa"}, "policyHash": "cc", "risk": risk(),
        "arguments": {"a": 1}, "outcome": {"ok": true}, "usage": Usage::default(), "approval": null,
        "backend": {"id": "cell"}, "prev": "00", "hash": "11"
    })
}

pub(crate) fn verified() -> Verified {
    Verified {
        ok: false,
        says: "record 3 is not what was signed".to_owned(),
        proven_to: 2,
        unsigned: 0,
        removed: 0,
        first_bad: Some(3),
        why: Some("Changed".to_owned()),
        key: "ed".to_owned(),
    }
}

pub(crate) fn lines(from: u64, next: Option<u64>) -> ExportPage {
    ExportPage { lines: vec![record(from).to_string()], next }
}

pub(crate) fn sandbox_id() -> SandboxId {
    SandboxId::parse(ID).expect("an id")
}

pub(crate) fn sandbox_line() -> SandboxLine {
    SandboxLine {
        id: sandbox_id(),
        name: Some("one".to_owned()),
        backend: "process".to_owned(),
        tier: Tier::Process,
        state: "idle".to_owned(),
        running: 1,
        network: "none".to_owned(),
        by: "bot".to_owned(),
        created_at: AT.to_owned(),
        used_at: AT.to_owned(),
        ends_at: AT.to_owned(),
    }
}

fn receipt() -> Receipt {
    let wall = Wallpart {
        demand: "network".to_owned(),
        mechanism: "net namespace".to_owned(),
        status: WallStatus::Enforced,
    };
    Receipt::new(Tier::Process, vec![wall], &[])
}

fn exec_usage() -> ExecUsage {
    ExecUsage { wall_ms: 20.5, cpu_ms: 11.0, memory_peak: 9_000_000, processes: 2 }
}

pub(crate) fn sandbox_view() -> SandboxView {
    SandboxView {
        line: sandbox_line(),
        spec: json!({"network": "none"}),
        receipt: receipt(),
        warnings: vec!["memory is not held".to_owned()],
        usage: Some(exec_usage()),
        correlation_id: None,
    }
}

pub(crate) fn snapshot_line() -> SnapshotLine {
    let id = SnapshotId::parse(ID).expect("an id");
    let snapshot = Snapshot { id, backend: "process".to_owned(), bytes: 4096 };
    SnapshotLine { snapshot, of: sandbox_id(), created_at: AT.to_owned() }
}

/// Something that was done to a sandbox of this key's.
pub(crate) fn sandbox_change(key: Option<KeyId>) -> SandboxChange {
    let action = "exec".to_owned();
    SandboxChange { action, sandbox: sandbox_line(), exit_status: Some(3), key }
}

pub(crate) fn entry() -> Entry {
    Entry { name: "a.txt".to_owned(), kind: EntryKind::File, bytes: 5, mode: 0o644 }
}

pub(crate) fn executed() -> Executed {
    let result = json!({
        "exitCode": 3, "signal": null, "timedOut": false, "oom": false,
        "stdout": "said", "stdoutTruncated": false, "stderr": "told", "stderrTruncated": true, "encoding": "utf8",
        "usage": exec_usage(), "denials": [failure().denied], "receipt": receipt(), "sandboxId": sandbox_id(),
        "backend": "process", "tier": "PROCESS", "correlationId": "cause-1",
    });
    let result: ExecResult = serde_json::from_value(result).expect("a result");
    Executed { result, warnings: vec!["memory is not held".to_owned()] }
}

/// Changes of every kind that a diff can list.
pub(crate) fn shown() -> Shown {
    let file = |size: u64| json!({"kind": "file", "mode": 420, "size": size, "sha256": "00ff"});
    let link = json!({"kind": "link", "mode": 0, "size": 1, "target": "a"});
    Shown {
        from: "/srv/code".into(),
        to: SandboxPath::new("/work").expect("a path"),
        changes: json!({
            "changes": [
                {"path": "a.txt", "what": "changed", "before": file(1), "after": file(2),
                 "sensitive": ["executable"], "findings": ["hostChanged"]},
                {"path": "link", "what": "added", "before": null, "after": link},
            ],
            "skipped": [{"path": "pipe", "why": "special"}],
            "leftOut": {"bound": "entries", "most": 2},
        }),
        patch: "diff --git a/a.txt b/a.txt\n".to_owned(),
        count: 2,
        conflicts: vec!["a.txt: changed on the host meanwhile".to_owned()],
        sensitive: vec!["a.txt: executable".to_owned()],
    }
}

pub(crate) fn landed() -> Landed {
    Landed {
        from: "/srv/code".into(),
        done: vec!["a.txt".to_owned()],
        left: vec!["pipe: special".to_owned()],
    }
}
