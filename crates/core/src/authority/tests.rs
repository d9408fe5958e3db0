//! Every action against every scope, alone. A new action does not compile until its row is here.

use bailiwick_types::{ApprovalId, CallId, CorrelationId, Risk, RiskLevel, Scope, Scopes, Usage};
use serde_json::{Map, json};

use super::check;
use crate::sandboxes::{
    AgentDoes, AgentWish, CommandWish, Cursor, ExecIntent, ExecOutcome, ExecWish, FileWish, ReviewWish,
    Target,
};
use crate::{Action, Actor, Caller, Code, CodeRun, Document, KeyWish, Reasons, RunIntent, RunOutcome, Which};

const NOBODY_NEEDS_ANY: &[Scope] = Scope::ALL;
const CALL: &[Scope] = &[Scope::Call];
const AUTHOR: &[Scope] = &[Scope::Author];
const APPROVE: &[Scope] = &[Scope::Approve];
const OPERATE: &[Scope] = &[Scope::Operate];
const SANDBOXES: &[Scope] = &[Scope::Author, Scope::Operate];

/// The place of an action in the list below, and the scopes each of which is enough by itself.
const fn row(action: &Action) -> (usize, &'static [Scope]) {
    match action {
        Action::Under => (0, NOBODY_NEEDS_ANY),
        Action::ToolList { .. } => (1, &[Scope::Call, Scope::Author, Scope::Approve, Scope::Operate]),
        Action::ToolShow { .. } => (2, &[Scope::Call, Scope::Author, Scope::Approve, Scope::Operate]),
        Action::ToolCheck { .. } => (3, AUTHOR),
        Action::ToolTry { live: false, .. } => (4, AUTHOR),
        Action::ToolImport { .. } => (5, AUTHOR),
        Action::ToolExport { .. } => (6, AUTHOR),
        Action::ToolTest { live: false, .. } => (7, AUTHOR),
        Action::ToolPublish { .. } => (8, AUTHOR),
        Action::ToolPublishDocument { .. } => (9, AUTHOR),
        Action::ToolUnpublish { .. } => (10, AUTHOR),
        Action::ToolRemove { .. } => (11, AUTHOR),
        Action::ToolCall { .. } => (12, CALL),
        Action::ToolOffered { .. } => (37, CALL),
        Action::ToolPolicy { .. } => (13, AUTHOR),
        Action::CodeRun(_) => (14, CALL),
        Action::CodeCheck { .. } => (15, CALL),
        Action::Limits => (16, NOBODY_NEEDS_ANY),
        Action::ApprovalList => (17, APPROVE),
        Action::ApprovalAnswer { .. } => (18, APPROVE),
        Action::ApprovalRemembered => (19, APPROVE),
        Action::ApprovalForget { .. } => (20, APPROVE),
        Action::KeyCreate(_) => (21, OPERATE),
        Action::KeyList => (22, OPERATE),
        Action::KeyRevoke { .. } => (23, OPERATE),
        Action::SecretList => (24, &[Scope::Author, Scope::Operate]),
        Action::Watch => (25, NOBODY_NEEDS_ANY),
        Action::RunBegins(_) => (26, OPERATE),
        Action::RunEnded(_) => (27, OPERATE),
        Action::AuditTail { .. } => (28, OPERATE),
        Action::AuditShow { .. } => (29, OPERATE),
        Action::AuditVerify => (30, OPERATE),
        Action::AuditExport { .. } => (31, OPERATE),
        Action::AuditRetain { .. } => (32, OPERATE),
        Action::ToolReplace { .. } => (33, AUTHOR),
        Action::AuditPage { .. } => (34, OPERATE),
        Action::ToolTry { live: true, .. } => (35, OPERATE),
        Action::ToolTest { live: true, .. } => (36, OPERATE),
        Action::SandboxCreate(_) => (38, SANDBOXES),
        Action::SandboxList => (39, SANDBOXES),
        Action::SandboxShow { .. } => (40, SANDBOXES),
        Action::SandboxExec(_) => (41, SANDBOXES),
        Action::SandboxFiles { .. } => (42, SANDBOXES),
        Action::SandboxSnapshot { .. } => (43, SANDBOXES),
        Action::SnapshotList => (44, SANDBOXES),
        Action::SnapshotForget { .. } => (45, SANDBOXES),
        Action::SandboxHibernate { .. } => (46, SANDBOXES),
        Action::SandboxResume { .. } => (47, SANDBOXES),
        Action::SandboxFork { .. } => (48, SANDBOXES),
        Action::SandboxStop { .. } => (49, SANDBOXES),
        Action::SandboxRemove { .. } => (50, SANDBOXES),
        Action::ExecBegins(_) => (51, OPERATE),
        Action::ExecEnded(_) => (52, OPERATE),
        Action::SandboxDiff { .. } => (53, SANDBOXES),
        Action::SandboxCommit { .. } => (54, &[Scope::Approve, Scope::Operate]),
        Action::SandboxDiscard { .. } => (55, SANDBOXES),
        Action::ImageList => (56, SANDBOXES),
        Action::ImagePull { .. } => (57, OPERATE),
        Action::ImageImport { .. } => (58, OPERATE),
        Action::ImageRemove { .. } => (59, OPERATE),
        Action::SandboxExpose { .. } => (60, SANDBOXES),
        Action::ExecStart(_) => (61, SANDBOXES),
        Action::ExecPoll { .. } => (62, SANDBOXES),
        Action::ExecKill { .. } => (63, SANDBOXES),
        Action::ExecList { .. } => (64, SANDBOXES),
        Action::AgentUse(_) => (65, CALL),
        Action::SandboxPorts { .. } => (66, SANDBOXES),
    }
}

fn code() -> Code {
    Code { text: "return 1".to_owned(), entry: "body".to_owned(), language: "js".to_owned() }
}

fn run() -> CodeRun {
    CodeRun {
        code: code(),
        name: "-e".to_owned(),
        arguments: Map::new(),
        overrides: None,
        profile: None,
        limits: None,
        correlation: None,
        always_asks: false,
    }
}

/// One of each, in the order of the rows.
fn each() -> Vec<Action> {
    let document = Document { name: "a.tool.yaml".to_owned(), text: String::new() };
    let (tool, reasons, id) = ("a".to_owned(), Reasons::default(), ApprovalId::from_parts(1, &[1; 10]));
    let call_id = CallId::from_parts(1, &[1; 10]);
    let intent = RunIntent {
        name: String::new(),
        code_hash: String::new(),
        policy_hash: String::new(),
        risk: Risk { level: RiskLevel::L0, credited: None, reasons: Vec::new() },
        arguments: json!({}),
        call_id,
        correlation_id: CorrelationId::from(call_id),
    };
    let wish = KeyWish {
        name: "a".to_owned(),
        scopes: Scopes::ALL,
        expires_in_s: None,
        per_second: None,
        at_once: None,
        dialogue: false,
    };
    let replace = Action::ToolReplace {
        tool: tool.clone(),
        version: None,
        document: document.clone(),
        approval_off: false,
    };
    let live = Action::ToolTry { document: document.clone(), live: true };
    vec![
        Action::Under,
        Action::ToolList { after: None, limit: 1 },
        Action::ToolShow { tool: tool.clone() },
        Action::ToolCheck { document: document.clone() },
        Action::ToolTry { document: document.clone(), live: false },
        Action::ToolImport { documents: Vec::new(), approval_off: false },
        Action::ToolExport { tools: Vec::new() },
        Action::ToolTest { which: Which::All, live: false },
        Action::ToolPublish { tool: tool.clone(), reasons: reasons.clone() },
        Action::ToolPublishDocument { document: document.clone(), reasons, approval_off: false },
        Action::ToolUnpublish { tool: tool.clone() },
        Action::ToolRemove { tool: tool.clone() },
        Action::ToolCall { tool, arguments: Map::new(), correlation: None, workspace: None },
        Action::ToolPolicy { document },
        Action::CodeRun(Box::new(run())),
        Action::CodeCheck { code: code() },
        Action::Limits,
        Action::ApprovalList,
        Action::ApprovalAnswer { id, yes: true, remember: None },
        Action::ApprovalRemembered,
        Action::ApprovalForget { id },
        Action::KeyCreate(wish),
        Action::KeyList,
        Action::KeyRevoke { key: "a".to_owned() },
        Action::SecretList,
        Action::Watch,
        Action::RunBegins(intent.clone()),
        Action::RunEnded(RunOutcome { intent, code: None, message: None, usage: Usage::default() }),
        Action::AuditTail { limit: 1 },
        Action::AuditShow { about: "1".to_owned() },
        Action::AuditVerify,
        Action::AuditExport { from: 1, limit: 1 },
        Action::AuditRetain { days: Some(1), records: None },
        replace,
        Action::AuditPage { from: None, newest_first: true, limit: 1 },
        live,
        Action::ToolTest { which: Which::All, live: true },
        Action::ToolOffered { after: None, limit: 1 },
    ]
    .into_iter()
    .chain(sandboxes())
    .collect()
}

fn sandboxes() -> Vec<Action> {
    let sandbox = || "s".to_owned();
    let call_id = CallId::from_parts(0, &[0; 10]);
    let intent = ExecIntent {
        call_id,
        correlation_id: call_id.into(),
        arguments: json!({}),
        backend: json!({"id": "process"}),
    };
    let outcome = ExecOutcome { intent: intent.clone(), outcome: json!({}), usage: Usage::default() };
    let exec =
        ExecWish { target: Target::Kept(sandbox()), command: CommandWish::default(), correlation: None };
    let path = bailiwick_sandbox::SandboxPath::work();
    vec![
        Action::SandboxCreate(Box::default()),
        Action::SandboxList,
        Action::SandboxShow { sandbox: sandbox() },
        Action::SandboxExec(Box::new(exec.clone())),
        Action::SandboxFiles { sandbox: sandbox(), wish: FileWish::List { path } },
        Action::SandboxSnapshot { sandbox: sandbox() },
        Action::SnapshotList,
        Action::SnapshotForget { snapshot: sandbox() },
        Action::SandboxHibernate { sandbox: sandbox() },
        Action::SandboxResume { sandbox: sandbox() },
        Action::SandboxFork { sandbox: sandbox(), name: None },
        Action::SandboxStop { sandbox: sandbox() },
        Action::SandboxRemove { sandbox: sandbox() },
        Action::ExecBegins(Box::new(intent)),
        Action::ExecEnded(Box::new(outcome)),
        Action::SandboxDiff { sandbox: sandbox(), wish: ReviewWish::default() },
        Action::SandboxCommit { sandbox: sandbox(), wish: ReviewWish::default() },
        Action::SandboxDiscard { sandbox: sandbox(), wish: ReviewWish::default() },
        Action::ImageList,
        Action::ImagePull { image: sandbox() },
        Action::ImageImport { from: "/a".into(), name: sandbox() },
        Action::ImageRemove { image: sandbox() },
        Action::SandboxExpose { sandbox: sandbox(), port: 80 },
        Action::ExecStart(Box::new(exec)),
        Action::ExecPoll { sandbox: sandbox(), exec: sandbox(), cursor: Cursor::default(), wait_ms: 0 },
        Action::ExecKill { sandbox: sandbox(), exec: sandbox() },
        Action::ExecList { sandbox: sandbox() },
        Action::AgentUse(Box::new(AgentWish {
            does: AgentDoes::Close { sandbox: sandbox() },
            correlation: None,
            is_tied: false,
        })),
        Action::SandboxPorts { sandbox: sandbox() },
    ]
}

#[track_caller]
fn expect(action: &Action, scopes: Scopes, may: bool) {
    let caller = Caller::covering(Actor { key: None, client: "test".to_owned() }, scopes);
    let said = check(&caller, action);
    assert_eq!(said.is_ok(), may, "{} with {scopes}", action.name());
    if let Err(refusal) = said {
        assert_eq!(refusal.code, bailiwick_types::ErrorCode::Forbidden);
        assert!(refusal.hint.is_some());
    }
}

#[test]
fn every_action_is_allowed_by_exactly_the_scopes_of_its_row() {
    let each = each();
    let places: Vec<usize> = each.iter().map(|action| row(action).0).collect();
    assert_eq!(places, (0..67).collect::<Vec<_>>(), "one of each");
    for action in &each {
        let (_, enough) = row(action);
        for scope in Scope::ALL {
            expect(action, Scopes::of([*scope]), enough.contains(scope));
        }
        let is_for_all = matches!(action, Action::Under | Action::Limits | Action::Watch);
        expect(action, Scopes::NONE, is_for_all);
        expect(action, Scopes::ALL, true);
    }
}

#[test]
fn code_that_is_to_do_more_is_for_authors() {
    for more in [
        CodeRun { overrides: Some(json!({})), ..run() },
        CodeRun { profile: Some("web".to_owned()), ..run() },
    ] {
        let action = Action::CodeRun(Box::new(more));
        expect(&action, Scopes::of([Scope::Call, Scope::Approve, Scope::Operate]), false);
        expect(&action, Scopes::of([Scope::Author]), true);
    }
}

#[test]
fn nothing_that_changes_a_tool_a_key_or_an_answer_is_for_whoever_only_calls() {
    let may: Vec<&str> = {
        let caller =
            Caller::covering(Actor { key: None, client: "test".to_owned() }, Scopes::of([Scope::Call]));
        each().iter().filter(|action| check(&caller, action).is_ok()).map(Action::name).collect()
    };
    assert_eq!(
        may,
        [
            "under",
            "tool.list",
            "tool.show",
            "tool.call",
            "run",
            "code.check",
            "limits",
            "watch",
            "tool.offered",
            "agent.use"
        ]
    );
}

#[test]
fn what_is_lacking_is_named_in_plain_marks() {
    let scopes = Scopes::of([Scope::Call]);
    let refusal = super::lacking(scopes, &[Scope::Author], "a higher limit for `wall`");
    let message = "a higher limit for `wall` needs the scope `author`, and these credentials have `call`";
    assert_eq!(refusal.message, message);
}
