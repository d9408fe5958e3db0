//! What a caller sees and may do by what their credentials cover.

use bailiwick_core::{Action, Actor, Caller, Reasons, Reply, ToolLine};
use bailiwick_types::{ErrorCode, RiskLevel, Scope, Scopes};
use serde_json::Value;

use crate::stage::{ADD, House, Place, STARS, block_on, refused, yaml};

fn covering(scopes: &[Scope]) -> Caller {
    Caller::covering(Actor { key: None, client: "test".to_owned() }, Scopes::of(scopes.iter().copied()))
}

async fn list(house: &House, scopes: &[Scope], after: Option<&str>, limit: u32) -> Vec<String> {
    let action = Action::ToolList { after: after.map(str::to_owned), limit };
    match house.core.perform(covering(scopes), action).await {
        Ok(Reply::Tools(lines)) => lines.into_iter().map(|ToolLine { name, .. }| name).collect(),
        other => panic!("{other:?}"),
    }
}

/// A tool that may delete files.
const WIPE: &str = "
name: wipe
description: Deletes a file of its workspace.
params:
  - {name: path, type: STRING, required: true, description: The file, testValue: old.txt}
overrides: {fileRead: true, fileWrite: true, destructive: true, addAllow: [fs.delete]}
tests:
  - {name: one file, input: {path: a.txt}, files: {a.txt: text}, equals: null}
code: |
  if (await safety.fs.exists(path)) await safety.fs.delete(path);
  return null;
";

fn whoever_does_not_author_sees_what_is_published() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        house.offer(&yaml("zero", &ADD.replace("name: add", "name: zero"))).await;
        house.import(&[yaml("stars", STARS)]).await.expect("imported");
        for scopes in [&[Scope::Call][..], &[Scope::Approve], &[Scope::Operate]] {
            assert_eq!(list(&house, scopes, None, 10).await, ["add", "zero"]);
            // What is not shown takes no place on a page.
            assert_eq!(list(&house, scopes, Some("add"), 1).await, ["zero"]);
            assert_eq!(list(&house, scopes, Some("zero"), 1).await, Vec::<String>::new());
        }
        assert_eq!(list(&house, &[Scope::Author], None, 10).await, ["add", "stars", "zero"]);

        let show = |tool: &str| Action::ToolShow { tool: tool.to_owned() };
        match house.core.perform(covering(&[Scope::Call]), show("add")).await {
            Ok(Reply::Tool(view)) => {
                assert_eq!(
                    (view.document, view.policy, view.pass, view.notes),
                    (Value::Null, None, None, None)
                );
                assert_eq!(view.definition["name"], "add");
                assert!(view.risk.is_some());
            }
            other => panic!("{other:?}"),
        }
        let hidden = house.core.perform(covering(&[Scope::Call]), show("stars")).await.expect_err("hidden");
        assert_eq!(hidden.code, ErrorCode::NotFound);
        // What is near to a name that is none is not told either.
        for tool in ["stars", "starz"] {
            let action = Action::ToolCall {
                tool: tool.to_owned(),
                arguments: serde_json::Map::new(),
                correlation: None,
                workspace: None,
            };
            for action in [show("starz"), action] {
                let refusal =
                    house.core.perform(covering(&[Scope::Call]), action).await.expect_err("refused");
                assert!(!refusal.hint.unwrap_or_default().contains("`stars`"));
            }
        }
        house.close().await;
    });
}

fn the_highest_risk_is_published_by_operators_alone() {
    block_on(async {
        let place = Place::new().set("ceilings.risk=L5");
        let house = place.open().await;
        let wipe = yaml("wipe", WIPE);
        let reasons =
            || Reasons { justification: Some("needed by the tests".to_owned()), despite_scan: None };
        let at_once =
            |document| Action::ToolPublishDocument { document, reasons: reasons(), approval_off: false };
        let author = || covering(&[Scope::Author, Scope::Call, Scope::Approve]);
        let (code, message) = refused(house.core.perform(author(), at_once(wipe.clone())).await);
        assert_eq!(code, ErrorCode::Forbidden, "{message}");
        house.import(std::slice::from_ref(&wipe)).await.expect("imported");
        let tested = house.test("wipe").await;
        assert!(tested.passed, "{tested:?}");
        let publish = || Action::ToolPublish { tool: "wipe".to_owned(), reasons: reasons() };
        let (code, message) = refused(house.core.perform(author(), publish()).await);
        assert_eq!(code, ErrorCode::Forbidden, "{message}");
        assert_ne!(house.state("wipe").await, "PUBLISHED");
        let both = covering(&[Scope::Author, Scope::Operate]);
        match house.core.perform(both, publish()).await {
            Ok(Reply::Published(published)) => {
                assert_eq!(published.tool.level, Some(RiskLevel::L5));
                assert_eq!(published.tool.state, "PUBLISHED");
            }
            other => panic!("{other:?}"),
        }
        // A pass that an author runs does not publish it on their word.
        let which = bailiwick_core::Which::Named(vec!["wipe".to_owned()]);
        house.core.perform(author(), Action::ToolTest { which, live: false }).await.expect("tested");
        assert_eq!(house.state("wipe").await, "AWAITING_REVIEW");
        house.close().await;
    });
}

fn whoever_only_calls_changes_nothing() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.import(&[yaml("add", ADD)]).await.expect("imported");
        let before = (house.show("add").await, house.tail(100).await);
        let document = yaml("stars", STARS);
        let tool = "add".to_owned();
        for action in [
            Action::ToolImport { documents: vec![document.clone()], approval_off: true },
            Action::ToolPublishDocument { document, reasons: Reasons::default(), approval_off: true },
            Action::ToolPublish { tool: tool.clone(), reasons: Reasons::default() },
            Action::ToolTest { which: bailiwick_core::Which::All, live: false },
            Action::ToolUnpublish { tool: tool.clone() },
            Action::ToolRemove { tool },
        ] {
            let refusal = house.core.perform(covering(&[Scope::Call]), action).await;
            assert_eq!(refused(refusal).0, ErrorCode::Forbidden);
        }
        assert_eq!((house.show("add").await, house.tail(100).await), before);
        house.close().await;
    });
}

bailiwick_testkit::tests! {
    whoever_does_not_author_sees_what_is_published,
    the_highest_risk_is_published_by_operators_alone,
    whoever_only_calls_changes_nothing,
}
