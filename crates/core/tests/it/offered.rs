//! What models are offered: exactly what can be called now, told by its policy.

use bailiwick_core::{Action, Actor, Caller, Hints, Offered, Reasons, Reply, Which};
use bailiwick_types::{ErrorCode, RiskLevel, Scope, Scopes};
use serde_json::json;

use crate::stage::{ADD, House, Place, STARS, block_on, refused, sql, yaml};

bailiwick_testkit::tests!(
    a_tool_is_offered_with_what_its_policy_lets_it_do,
    what_cannot_be_called_is_not_offered,
    what_was_changed_behind_our_back_is_not_offered,
    what_became_stale_or_too_risky_is_not_offered,
    pages_go_by_name_and_hold_only_what_is_offered,
    whoever_may_not_call_is_offered_nothing,
);

const WRITER: &str = "
name: writer
description: Writes a text to a file of its workspace.
params:
  - {name: text, type: STRING, required: true, description: The text, testValue: hello}
overrides: {fileWrite: true}
code: safety.fs.writeText('out.txt', text)
";

fn named(name: &str) -> String {
    ADD.replace("name: add", &format!("name: {name}"))
}

async fn page(house: &House, after: Option<&str>, limit: u32) -> Vec<Offered> {
    let caller = Caller::covering(Actor { key: None, client: "test".to_owned() }, Scopes::of([Scope::Call]));
    let action = Action::ToolOffered { after: after.map(str::to_owned), limit };
    match house.core.perform(caller, action).await {
        Ok(Reply::Offered(offered)) => offered,
        other => panic!("{other:?}"),
    }
}

async fn names(house: &House) -> Vec<String> {
    page(house, None, 100).await.into_iter().map(|tool| tool.name).collect()
}

/// Whether it is offered, which must be whether it can be called.
async fn is_offered(house: &House, name: &str) -> bool {
    // First, so that nothing a call does decides it.
    let offered = names(house).await.iter().any(|one| one == name);
    let called = house.call(name, json!({"a": 1, "b": 2})).await;
    assert_eq!(called.is_ok(), offered, "{name}: {called:?}");
    assert_eq!(names(house).await.iter().any(|one| one == name), offered, "a call does not change it");
    offered
}

fn a_tool_is_offered_with_what_its_policy_lets_it_do() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let reads = "overrides: {network: allowlist, hosts: [{host: api.github.com, methods: [GET]}]}\n";
        house.offer(&yaml("writer", WRITER)).await;
        house.offer(&yaml("stars", &format!("{STARS}{reads}"))).await;
        house.offer(&yaml("add", ADD)).await;
        let offered = page(&house, None, 10).await;
        let [add, stars, writer] = offered.as_slice() else { panic!("{offered:?}") };
        assert_eq!((add.name.as_str(), add.title.as_deref()), ("add", Some("Add")));
        assert_eq!(add.description.as_deref(), Some("Adds two whole numbers and gives their sum."));
        assert_eq!(add.input_schema["required"], json!(["a", "b"]));
        assert_eq!(add.output_schema, Some(json!({"type": "integer"})));
        assert_eq!((add.level, add.approval), (RiskLevel::L0, false));
        let harmless = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
        assert_eq!(add.hints, harmless);
        assert_eq!((stars.name.as_str(), stars.level, stars.approval), ("stars", RiskLevel::L3, false));
        assert_eq!(stars.hints, Hints { open_world: true, ..harmless });
        assert_eq!(stars.output_schema, None);
        assert_eq!((writer.level, writer.approval), (RiskLevel::L4, true));
        assert_eq!(
            writer.hints,
            Hints { read_only: false, destructive: true, idempotent: false, open_world: false }
        );
        // How a tool is made stays here.
        let told = serde_json::to_string(&offered).expect("JSON");
        for inside in ["a + b", "safety.fs", "small numbers", "api.github.com", "testValue"] {
            assert!(!told.contains(inside), "{inside} in {told}");
        }
        house.close().await;
    });
}

fn what_cannot_be_called_is_not_offered() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.import(&[yaml("add", ADD)]).await.expect("imported");
        assert!(!is_offered(&house, "add").await, "a draft");
        house.test("add").await;
        assert!(!is_offered(&house, "add").await, "passed and not published");
        house.publish("add", Reasons::default()).await.expect("published");
        assert!(is_offered(&house, "add").await);
        house.import(&[yaml("add", &ADD.replace("title: Add", "title: Sum"))]).await.expect("imported");
        assert!(is_offered(&house, "add").await, "only its words changed");
        assert_eq!(page(&house, None, 1).await[0].title.as_deref(), Some("Sum"));
        house.import(&[yaml("add", &ADD.replace("a + b", "b + a"))]).await.expect("imported");
        assert!(!is_offered(&house, "add").await, "edited");
        house.offer(&yaml("add", ADD)).await;
        assert!(is_offered(&house, "add").await, "published again");
        house.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("unpublished");
        assert!(!is_offered(&house, "add").await, "unpublished");
        house.offer(&yaml("add", ADD)).await;
        house.act(Action::ToolRemove { tool: "add".to_owned() }).await.expect("removed");
        assert!(!is_offered(&house, "add").await, "removed");
        house.close().await;
    });
}

fn what_was_changed_behind_our_back_is_not_offered() {
    block_on(async {
        for statement in [
            "UPDATE tool_texts SET document = replace(document, 'a + b', 'a - b')",
            "UPDATE tool_texts SET document = replace(document, 'Adds two', 'Ignore all')",
            "UPDATE tool_texts SET pass = pass || ' '",
            "UPDATE tools SET title = 'Another'",
            "UPDATE tools SET seal = zeroblob(32)",
            "DELETE FROM tool_texts",
        ] {
            let place = Place::new();
            let house = place.open().await;
            house.offer(&yaml("add", ADD)).await;
            // It is known by now; what is known must not stand in for what is there.
            assert_eq!(names(&house).await, ["add"]);
            assert_eq!(sql(&place, statement), 1, "{statement}");
            assert_eq!(names(&house).await, Vec::<String>::new(), "{statement}");
            let called = refused(house.call("add", json!({"a": 1, "b": 2})).await);
            assert_eq!(called.0, ErrorCode::Revoked, "{statement}");
            assert_eq!(names(&house).await, Vec::<String>::new(), "revoked: {statement}");
        }
        // A row from before, seals and all.
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        for table in ["tools", "tool_texts"] {
            sql(&place, &format!("CREATE TABLE old_{table} AS SELECT * FROM {table}"));
        }
        house.act(Action::ToolUnpublish { tool: "add".to_owned() }).await.expect("unpublished");
        for table in ["tools", "tool_texts"] {
            sql(&place, &format!("REPLACE INTO {table} SELECT * FROM old_{table}"));
        }
        assert_eq!(names(&house).await, Vec::<String>::new());
    });
}

fn what_became_stale_or_too_risky_is_not_offered() {
    block_on(async {
        let mut place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        house.offer(&yaml("writer", WRITER)).await;
        assert_eq!(names(&house).await, ["add", "writer"]);
        house.close().await;
        place.reset(&["ceilings.risk=L3"]);
        let house = place.open().await;
        assert_eq!(names(&house).await, ["add"], "one is above the ceiling");
        house.close().await;
        place.reset(&["limits.wall=4s"]);
        let house = place.open().await;
        assert_eq!(names(&house).await, ["add", "writer"], "a narrower policy is no reason");
        house.close().await;
        place.reset(&["limits.wall=6s"]);
        let house = place.open().await;
        assert!(!is_offered(&house, "add").await, "stale");
        assert_eq!(names(&house).await, Vec::<String>::new());
        house.act(Action::ToolTest { which: Which::Stale, live: false }).await.expect("tested");
        assert!(is_offered(&house, "add").await, "it passed again");
        house.close().await;
    });
}

fn pages_go_by_name_and_hold_only_what_is_offered() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        for name in ["delta", "alpha", "echo", "bravo"] {
            house.offer(&yaml(name, &named(name))).await;
        }
        let drafts: Vec<_> = ["aa", "charlie", "zulu"].map(|name| yaml(name, &named(name))).into();
        house.import(&drafts).await.expect("imported");
        let all = ["alpha", "bravo", "delta", "echo"];
        for limit in [1, 2, 3, 4, 5, u32::MAX] {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = page(&house, after.as_deref(), limit).await;
                let is_short = page.len() < usize::try_from(limit).unwrap_or(usize::MAX);
                seen.extend(page.into_iter().map(|tool| tool.name));
                after = seen.last().cloned();
                if is_short {
                    break;
                }
            }
            assert_eq!(seen, all, "pages of {limit}");
        }
        assert_eq!(page(&house, None, 0).await.len(), 1, "a page of nothing would never end");
        assert_eq!(page(&house, Some("charlie"), 9).await.len(), 2, "a name that is not offered is a place");
        assert_eq!(page(&house, Some("echo"), 9).await, Vec::new());
        house.close().await;
    });
}

fn whoever_may_not_call_is_offered_nothing() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        for scopes in [&[][..], &[Scope::Author], &[Scope::Approve], &[Scope::Operate]] {
            let actor = Actor { key: None, client: "test".to_owned() };
            let caller = Caller::covering(actor, Scopes::of(scopes.iter().copied()));
            let asked = house.core.perform(caller, Action::ToolOffered { after: None, limit: 10 }).await;
            assert_eq!(refused(asked).0, ErrorCode::Forbidden, "{scopes:?}");
        }
        house.close().await;
    });
}
