//! Edits of kept tools: what a pass covers never changes as if it were a word about the tool.

use std::collections::HashSet;

use bailiwick_core::{Action, Reply};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::stage::{Place, block_on, refused, yaml};

bailiwick_testkit::tests!(
    what_runs_differently_is_no_edit_of_a_text,
    tools_with_like_names_share_no_folder_and_no_file,
    a_new_name_does_not_shed_the_operators_wish_to_be_asked,
);

/// A tool whose answer depends on what the canonical form of its document does not tell apart.
fn telling(described: &str, value: &str) -> String {
    format!(
        "
name: telling
description: {described}
statics:
  - {{name: fixed, value: {value}}}
code: return [JSON.stringify(fixed), Object.is(fixed, -0)]
"
    )
}

fn what_runs_differently_is_no_edit_of_a_text() {
    block_on(async {
        for (before, after) in [
            ("{a: 1, b: 2}", "{b: 2, a: 1}"),
            ("0", "-0.0"),
            ("0.0", "-0.0"),
            ("[{x: {a: 1, b: 2}}]", "[{x: {b: 2, a: 1}}]"),
        ] {
            let place = Place::new();
            let house = place.open().await;
            house.offer(&yaml("telling", &telling("Tells.", before))).await;
            let passed = house.call("telling", json!({})).await.expect("a report").value().clone();
            let imported = house.import(&[yaml("telling", &telling("Tells it.", after))]).await;
            let state = imported.expect("imported").remove(0).state;
            if state == "PUBLISHED" {
                let now = house.call("telling", json!({})).await.expect("a report").value().clone();
                assert_eq!(now, passed, "{before} became {after} without a pass");
            }
            assert_eq!(state, "DRAFT", "{before} became {after}");
        }
    });
}

fn a_new_name_does_not_shed_the_operators_wish_to_be_asked() {
    block_on(async {
        let place = Place::new().set("approvals.required=deploy");
        let house = place.open().await;
        let text =
            |id: &str, name: &str| format!("{id}\nname: {name}\ndescription: Deploys.\ncode: return 1\n");
        let line = house.offer(&yaml("deploy", &text("", "deploy"))).await;
        let renamed = text(&format!("id: {}", line.id), "deploy2");
        let (code, message) = refused(house.import(&[yaml("deploy", &renamed)]).await);
        assert_eq!(code, ErrorCode::Conflict, "{message}");
    });
}

fn tools_with_like_names_share_no_folder_and_no_file() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = |name: &str| {
            format!(
                "
name: \"{name}\"
description: Gives back what it left in its workspace, and leaves its name there.
overrides: {{fileRead: true, fileWrite: true}}
approval: {{mode: DISABLED}}
code: |
  const before = safety.fs.exists('name.txt') ? safety.fs.readText('name.txt') : null;
  safety.fs.writeText('name.txt', '{name}');
  return before;
"
            )
        };
        let names = ["a-b", "a.b", "a b", "a_b", "A-b", "X-a-b-1"];
        for (index, name) in names.into_iter().enumerate() {
            house.offer(&yaml(&format!("tool-{index}"), &tool(name))).await;
            let report = house.call(name, json!({})).await.expect("a report");
            assert_eq!(report.value(), &json!(null), "{name} found what another tool left");
        }
        let Ok(Reply::Exported(documents)) = house.act(Action::ToolExport { tools: Vec::new() }).await else {
            panic!("no documents")
        };
        let files: HashSet<_> = documents.into_iter().map(|document| document.name).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
    });
}
