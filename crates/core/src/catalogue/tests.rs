//! What needs rows that no document brings any more, or very many of them.

use std::sync::Arc;

use bailiwick_config::{Environment, FolderFile, Request, load};
use bailiwick_runtime::Runtime;
use bailiwick_secrets::Fallback;
use bailiwick_store::{Durability, StoreError, ToolRow};
use bailiwick_tool::Tool;
use bailiwick_tool::lifecycle::State;
use bailiwick_types::{ErrorCode, RiskLevel, ToolId};
use serde_json::{Value, json};

use crate::journal::tool_change;
use crate::parsed::Parsed;
use crate::pass::Pass;
use crate::{Action, Actor, Caller, Core, Document, Opening, Presence, Reasons, Refusal, Reply};

fn actor() -> Actor {
    Actor { key: None, client: "test".to_owned() }
}

async fn open(folder: &tempfile::TempDir) -> Core {
    let home = folder.path().join("home");
    let environment = Environment {
        working_folder: home.clone(),
        system_folder: home.join("etc"),
        home: Some(home.clone()),
        ..Environment::default()
    };
    let data = folder.path().to_owned();
    let request =
        Request { config: None, data: Some(data.clone()), set: Vec::new(), folder_file: FolderFile::Skip };
    let opening = Opening {
        data,
        config: home.join("config"),
        settings: load(&environment, &request).unwrap().settings,
        fallback: Fallback::none(),
        cells: Runtime::builder(),
        backends: crate::Backends::default(),
        presence: Presence::Brief,
    };
    Core::open(opening).await.unwrap()
}

/// A row as an earlier version may have kept it, with a pass of its own.
fn row(core: &Core, number: usize, name: &str, state: State) -> ToolRow {
    let mut random = [0; 10];
    random[..8].copy_from_slice(&(number as u64).to_be_bytes());
    let id = ToolId::from_parts(1, &random);
    let document = json!({"id": id, "name": name, "description": "Gives one.", "code": "return 1"});
    let parsed = Arc::new(Parsed::of(Tool::from_json(&document).unwrap(), &core.inner.world));
    let standing = parsed.standing.as_ref().ok().unwrap();
    let pass = Pass {
        covered: parsed.covered.to_string(),
        policy_hash: standing.hash.to_string(),
        policy: Value::clone(&standing.memory),
        level: RiskLevel::L0,
        engine: "test".to_owned(),
        time: "2026-01-01T00:00:00Z".to_owned(),
        results: Vec::new(),
    };
    ToolRow {
        id,
        name: name.to_owned(),
        title: None,
        state: state.word().to_owned(),
        document: parsed.tool.to_json().to_string(),
        covered: parsed.covered.to_string(),
        texts: parsed.texts.to_string(),
        pass: Some(serde_json::to_string(&pass).unwrap()),
        notes: None,
        version: 1,
        created_ms: 1,
        updated_ms: 1,
        standing: None,
        is_ours: true,
    }
}

async fn keep(core: &Core, rows: Vec<ToolRow>) {
    let written = core.inner.store.write(Durability::Process, move |tx| -> Result<(), StoreError> {
        for row in &rows {
            tx.put_tool(row)?;
            tx.append(&tool_change(&actor(), "tool.import", row, json!({})))?;
        }
        Ok(())
    });
    written.await.unwrap();
}

async fn act(core: &Core, action: Action) -> Result<Reply, Refusal> {
    core.perform(Caller::alone(actor()), action).await
}

/// The names on one page.
async fn page(core: &Core, after: Option<&str>, limit: u32) -> Vec<String> {
    match act(core, Action::ToolOffered { after: after.map(str::to_owned), limit }).await {
        Ok(Reply::Offered(tools)) => tools.into_iter().map(|tool| tool.name).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_name_that_was_reserved_later_is_neither_published_nor_offered() {
    let folder = tempfile::tempdir().unwrap();
    let core = open(&folder).await;
    let rows = [
        ("run_code", State::Published),
        ("sandbox_exec", State::Ready),
        ("mine", State::Published),
        ("mine_too", State::Ready),
    ];
    let kept = rows.iter().enumerate().map(|(number, (name, state))| row(&core, number, name, *state));
    keep(&core, kept.collect()).await;
    assert_eq!(page(&core, None, 10).await, ["mine"]);
    let publish = |name: &str| Action::ToolPublish { tool: name.to_owned(), reasons: Reasons::default() };
    act(&core, publish("mine_too")).await.unwrap();
    for name in ["sandbox_exec", "run_code"] {
        let refusal = act(&core, publish(name)).await.unwrap_err();
        assert_eq!(refusal.code, ErrorCode::Conflict, "{refusal:?}");
        assert!(refusal.message.contains("kept for a native tool"), "{refusal:?}");
        assert!(refusal.hint.unwrap().contains("choose another name"));
    }
    assert_eq!(page(&core, None, 10).await, ["mine", "mine_too"]);
    // It can be looked at, and it can go.
    act(&core, Action::ToolShow { tool: "run_code".to_owned() }).await.unwrap();
    act(&core, Action::ToolRemove { tool: "run_code".to_owned() }).await.unwrap();
    core.close().await.unwrap();
}

#[tokio::test]
async fn no_document_brings_a_reserved_name_in() {
    let folder = tempfile::tempdir().unwrap();
    let core = open(&folder).await;
    keep(&core, vec![row(&core, 1, "mine", State::Draft)]).await;
    let document = |name: &str| Document {
        name: "a.tool.yaml".to_owned(),
        text: format!("name: {name}\ndescription: Runs.\ncode: return 1\n"),
    };
    let reasons = Reasons::default;
    for name in ["run_javascript", "Run-JavaScript", "sandbox_create"] {
        for action in [
            Action::ToolImport { documents: vec![document("fine"), document(name)], approval_off: false },
            Action::ToolPublishDocument { document: document(name), reasons: reasons(), approval_off: false },
            Action::ToolReplace {
                tool: "mine".to_owned(),
                version: None,
                document: document(name),
                approval_off: false,
            },
            Action::ToolCheck { document: document(name) },
            Action::ToolTry { document: document(name), live: false },
        ] {
            let what = action.name();
            let refusal = act(&core, action).await.unwrap_err();
            assert_eq!(refusal.code, ErrorCode::Validation, "{what}: {refusal:?}");
            let [fault] = refusal.faults.as_slice() else { panic!("{what}: {refusal:?}") };
            assert_eq!((fault.path.as_str(), fault.line), ("name", 1), "{what}");
            assert!(fault.message.contains("kept for a native tool"), "{what}: {fault:?}");
        }
    }
    let Ok(Reply::Tools(tools)) = act(&core, Action::ToolList { after: None, limit: 10 }).await else {
        panic!("no list")
    };
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["mine"]);
    core.close().await.unwrap();
}

#[tokio::test]
async fn few_that_are_offered_among_very_many_are_found_by_pages() {
    const ALL: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let core = open(&folder).await;
    let state = |number: usize| if number.is_multiple_of(7) { State::Published } else { State::Draft };
    let rows = (0..ALL).map(|number| row(&core, number, &format!("t{number:05}"), state(number)));
    keep(&core, rows.collect()).await;
    let expected: Vec<String> = (0..ALL).step_by(7).map(|number| format!("t{number:05}")).collect();
    let mut seen = Vec::new();
    loop {
        let page = page(&core, seen.last().map(String::as_str), 10).await;
        assert!(page.len() == 10 || seen.len() + page.len() == expected.len());
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, expected);
    core.close().await.unwrap();
}
