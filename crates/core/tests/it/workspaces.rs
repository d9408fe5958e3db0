//! Whose files a named workspace holds: its caller's, unless the operator shares the name.

use bailiwick_core::{Action, Actor, Caller, KeyWish, Origin, Reply};
use bailiwick_types::{Scope, Scopes};
use serde_json::{Value, json};

use crate::stage::{House, Place, block_on, cli, yaml};

/// Writes a file of its caller's choice, and lists what is there.
const KEEPS: &str = "
name: keeps
description: Keeps a file, and lists all of them.
params:
  - {name: file, type: STRING, required: true, description: The file, testValue: a}
overrides: {fileWrite: true, fileRead: true}
approval: {mode: DISABLED}
code: |
  safety.fs.writeText(file, file);
  return safety.fs.list('.').entries.map((entry) => entry.name);
";

async fn by_key(house: &House, name: &str) -> Caller {
    let wish = KeyWish {
        name: name.to_owned(),
        scopes: Scopes::of([Scope::Call]),
        expires_in_s: None,
        per_second: None,
        at_once: None,
        dialogue: false,
    };
    let Ok(Reply::KeyMade(made)) = house.act(Action::KeyCreate(wish)).await else { panic!("no key") };
    Caller { key: Some(made.line.id), ..by_name(Some(name)) }
}

/// By a token of this subject, or by nothing at all.
fn by_name(name: Option<&str>) -> Caller {
    let actor = Actor { key: name.map(str::to_owned), client: "http".to_owned() };
    Caller::covering(actor, Scopes::of([Scope::Call]))
}

fn operator() -> Caller {
    Caller { origin: Origin::Typed, ..cli() }
}

/// The files that a caller sees in a workspace after it kept one of its own.
async fn sees(house: &House, who: &Caller, file: &str, workspace: Option<&str>) -> Value {
    let action = Action::ToolCall {
        tool: "keeps".to_owned(),
        arguments: json!({"file": file}).as_object().cloned().expect("an object"),
        correlation: None,
        workspace: workspace.map(str::to_owned),
    };
    let Ok(Reply::Called(report)) = house.core.perform(who.clone(), action).await else {
        panic!("no report")
    };
    assert!(report.is_ok(), "{report:?}");
    report.value().clone()
}

async fn callers(house: &House) -> Vec<(&'static str, Caller)> {
    vec![
        ("agent", by_key(house, "agent").await),
        ("other", by_key(house, "other").await),
        ("ann", by_name(Some("jwt:ann"))),
        ("bob", by_name(Some("jwt:bob"))),
        ("nobody", by_name(None)),
        ("operator", operator()),
    ]
}

fn a_named_workspace_is_its_callers_alone() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("keeps", KEEPS)).await;
        for (name, caller) in callers(&house).await {
            assert_eq!(sees(&house, &caller, name, Some("notes")).await, json!([name]), "{name}");
            // Its own calls share it.
            assert_eq!(sees(&house, &caller, name, Some("notes")).await, json!([name]), "{name}");
        }
        // The operator's is the plain directory, which is where everybody's was before.
        assert!(place.data().join("workspaces/notes/operator").is_file());
        house.close().await;
    });
}

fn a_workspace_that_the_operator_shares_is_everybodys() {
    block_on(async {
        let place = Place::new().set("fs.sharedWorkspaces=team");
        let house = place.open().await;
        house.offer(&yaml("keeps", KEEPS)).await;
        let mut names: Vec<&str> = Vec::new();
        for (name, caller) in callers(&house).await {
            names.push(name);
            names.sort_unstable();
            assert_eq!(sees(&house, &caller, name, Some("team")).await, json!(names), "{name}");
            assert_eq!(sees(&house, &caller, name, Some("notes")).await, json!([name]), "{name}");
        }
        house.close().await;
    });
}

fn the_operators_key_finds_the_operators_files() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("keeps", KEEPS)).await;
        house.core.operator_key().await.expect("a key");
        let Ok(Reply::Keys(keys)) = house.act(Action::KeyList).await else { panic!("no keys") };
        let key = keys.iter().find(|key| key.name == "operator").map(|key| key.id);
        assert_eq!(sees(&house, &operator(), "typed", Some("notes")).await, json!(["typed"]));
        let by_key = Caller { key, ..by_name(Some("operator")) };
        assert_eq!(sees(&house, &by_key, "sent", Some("notes")).await, json!(["sent", "typed"]));
        // A name alone is no key.
        assert_eq!(
            sees(&house, &by_name(Some("operator")), "forged", Some("notes")).await,
            json!(["forged"])
        );
        house.close().await;
    });
}

fn without_a_name_the_files_are_the_tools() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("keeps", KEEPS)).await;
        let (agent, nobody) = (by_key(&house, "agent").await, by_name(None));
        assert_eq!(sees(&house, &agent, "a", None).await, json!(["a"]));
        assert_eq!(sees(&house, &nobody, "b", None).await, json!(["a", "b"]));
        house.close().await;
    });
}

bailiwick_testkit::tests! {
    a_named_workspace_is_its_callers_alone,
    a_workspace_that_the_operator_shares_is_everybodys,
    the_operators_key_finds_the_operators_files,
    without_a_name_the_files_are_the_tools,
}
