//! Local Pass: what it finds, what it keeps, and when it no longer holds.

use bailiwick_core::{Action, Reasons, Reply, TestVerdict, Tested};
use bailiwick_types::ErrorCode;
use serde_json::json;

use crate::stage::{ADD, House, Place, STARS, block_on, cli, refused, yaml};

bailiwick_testkit::tests!(
    a_host_that_was_not_declared_fails_the_pass_with_its_fix,
    a_pass_is_bound_to_the_hashes_and_says_what_ran,
    every_kind_of_expectation_is_looked_at,
    files_of_a_test_are_its_own,
    a_required_parameter_needs_a_test_value,
    a_secret_that_is_not_set_is_a_missing_requirement,
    a_wider_policy_makes_a_tool_stale_and_a_narrower_one_does_not,
    a_request_without_an_answer_is_told_as_such,
    code_that_cannot_run_fails_before_it_does,
    a_document_can_be_tried_without_being_kept,
);

async fn tried(house: &House, text: &str) -> Tested {
    let document = yaml("tried", text);
    match house.core.perform(cli(), Action::ToolTry { document, live: false }).await {
        Ok(Reply::Tested(mut tested)) => tested.remove(0),
        other => panic!("{other:?}"),
    }
}

fn a_host_that_was_not_declared_fails_the_pass_with_its_fix() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.import(&[yaml("stars", STARS)]).await.expect("imported");
        let tested = house.test("stars").await;
        assert!(!tested.passed);
        assert_eq!(tested.state.as_deref(), Some("TEST_FAILED"));
        // Under a policy without network there is no `fetch` at all, so the first denial is of that.
        let denial = tested.denial().expect("a denial");
        let fix = denial.fix.as_ref().expect("a fix");
        let declared = format!("{STARS}overrides: {{network: allowlist, hosts: [api.github.com]}}\n");
        let wrong = format!("{STARS}overrides: {{network: allowlist, hosts: [example.com]}}\n");
        let tested = tried(&house, &wrong).await;
        let denial = tested.denial().expect("a denial");
        assert_eq!(denial.code, ErrorCode::NetDenied);
        assert_eq!(denial.fix.as_ref().expect("a fix").overrides, json!({"hosts": ["api.github.com"]}));
        assert_eq!(fix.risk.name(), "L3");
        let tested = tried(&house, &declared).await;
        assert!(tested.passed, "{tested:#?}");
        assert_eq!(tested.risk.expect("a badge").level.name(), "L3");
    });
}

fn a_pass_is_bound_to_the_hashes_and_says_what_ran() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        house.import(&[yaml("add", ADD)]).await.expect("imported");
        let tested = house.test("add").await;
        assert!(tested.passed);
        let names: Vec<_> = tested.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["test values", "small numbers"]);
        let view = house.show("add").await;
        let pass = view.pass.expect("a pass");
        assert_eq!(pass["covered"], view.hash);
        assert_eq!(pass["policyHash"].as_str().map(str::len), Some(64));
        assert!(pass["engine"].as_str().is_some_and(|engine| engine.starts_with("bailiwick ")));
        assert_eq!(pass["results"].as_array().map(Vec::len), Some(2));
        assert_eq!(view.line.state, "READY");
    });
}

fn every_kind_of_expectation_is_looked_at() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = |expectation: &str, code: &str| {
            format!(
                "name: t\ndescription: A test.\ntests:\n  - {{name: it, input: {{}}, {expectation}}}\ncode: {code}\n"
            )
        };
        for (expectation, fine, wrong) in [
            ("equals: {a: 1}", "'return {a: 1}'", "'return {a: 2}'"),
            ("contains: ell", "return 'hello'", "return 'help'"),
            ("matches: '^h.*o$'", "return 'hello'", "return 'help'"),
            ("schema: {type: integer}", "return 1", "return 'one'"),
            ("throws: true", "throw new Error('x')", "return 1"),
            ("throws: 'no such'", "'throw new Error(\"there is no such thing\")'", "throw new Error('x')"),
            ("throws: {code: STEP_LIMIT}", "'for (;;) {}'", "return 1"),
            ("leaves: {a.txt: null}", "return 1", "return 1 // never wrong"),
        ] {
            let tested = tried(&house, &tool(expectation, fine)).await;
            let line = tested.lines.iter().find(|line| line.name == "it").expect("a line");
            assert_eq!(line.verdict, TestVerdict::Passed, "{expectation}: {tested:#?}");
            if wrong.contains("never wrong") {
                continue;
            }
            let tested = tried(&house, &tool(expectation, wrong)).await;
            let line = tested.lines.iter().find(|line| line.name == "it").expect("a line");
            assert_eq!(line.verdict, TestVerdict::Failed, "{expectation}: {tested:#?}");
            assert!(!tested.passed);
        }
    });
}

fn files_of_a_test_are_its_own() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = "
name: eraser
description: Removes a file.
params:
  - {name: path, type: STRING, required: true, description: Which, testValue: a.txt}
overrides: {fileRead: true, fileWrite: true, destructive: true}
approval: {mode: REQUIRED}
tests:
  - {name: removes it, input: {path: a.txt}, files: {a.txt: one, sub/b.txt: two}, leaves: {a.txt: null, sub/b.txt: two}}
code: safety.fs.delete(path)
";
        let workspace = place.data().join("workspaces/default");
        std::fs::create_dir_all(&workspace).expect("a workspace");
        bailiwick_config::files::replace(
            &workspace.join("a.txt"),
            "mine",
            bailiwick_config::files::Readers::Owner,
        )
        .expect("a file");
        let tested = tried(&house, tool).await;
        assert!(tested.passed, "{tested:#?}");
        let kept = bailiwick_config::files::read_document(&workspace.join("a.txt")).expect("still there");
        assert_eq!(kept, "mine");
        let missed = tried(&house, &tool.replace("a.txt: null, ", "a.txt: one, ")).await;
        assert!(!missed.passed);
        let left = std::fs::read_dir(place.data().join("scratch")).expect("a folder").count();
        assert_eq!(left, 0, "scratch folders go with their runs");
    });
}

fn a_required_parameter_needs_a_test_value() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tested = tried(&house, &ADD.replace(", testValue: 40", "")).await;
        let refusal = tested.refused.expect("a refusal");
        assert_eq!(refusal.code, ErrorCode::Validation);
        assert!(refusal.message.contains("`testValue`: a"), "{refusal:?}");
    });
}

fn a_secret_that_is_not_set_is_a_missing_requirement() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = format!("{ADD}statics: [{{name: token, value: \"${{NOT_SET}}\"}}]\n");
        house.import(&[yaml("add", &tool)]).await.expect("imported");
        let tested = house.test("add").await;
        assert_eq!(tested.state.as_deref(), Some("MISSING_REQUIREMENTS"));
        assert_eq!(tested.refused.expect("a refusal").code, ErrorCode::MissingSecret);
        assert_eq!(refused(house.publish("add", Reasons::default()).await).0, ErrorCode::Conflict);
    });
}

fn a_wider_policy_makes_a_tool_stale_and_a_narrower_one_does_not() {
    block_on(async {
        let mut place = Place::new();
        let house = place.open().await;
        house.offer(&yaml("add", ADD)).await;
        house.close().await;
        // Narrower: less time for everybody.
        place.reset(&["limits.wall=4s"]);
        let house = place.open().await;
        assert_eq!(house.state("add").await, "PUBLISHED");
        assert!(house.call("add", json!({"a": 1, "b": 2})).await.expect("a report").is_ok());
        house.close().await;
        // Wider: more of it.
        place.reset(&["limits.wall=6s"]);
        let house = place.open().await;
        assert_eq!(house.state("add").await, "STALE");
        let Ok(Reply::Tools(tools)) = house.act(Action::ToolList { after: None, limit: 10 }).await else {
            panic!("no list")
        };
        assert_eq!(tools[0].state, "STALE");
        let (code, message) = refused(house.call("add", json!({"a": 1, "b": 2})).await);
        assert_eq!(code, ErrorCode::Stale);
        assert!(message.contains("limit wall 5s → 6s"), "{message}");
        let which = bailiwick_core::Which::Stale;
        let Ok(Reply::Tested(tested)) = house.act(Action::ToolTest { which, live: false }).await else {
            panic!("not tested")
        };
        assert_eq!(tested.len(), 1);
        assert!(house.call("add", json!({"a": 1, "b": 2})).await.expect("a report").is_ok());
        let changes = house.tail(100).await;
        let noted = changes.iter().filter(|record| record["action"] == "policy.change").count();
        assert_eq!(noted, 3, "each file of the operator is on the record");
    });
}

fn a_request_without_an_answer_is_told_as_such() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tool = format!("{STARS}overrides: {{network: allowlist, hosts: [api.github.com]}}\n")
            .replace("testValue: a/b", "testValue: c/d");
        let tested = tried(&house, &tool).await;
        assert!(tested.passed, "{tested:#?}");
        assert_eq!(tested.lines[0].verdict, TestVerdict::Unanswered);
        assert_eq!(tested.lines[1].verdict, TestVerdict::Passed);
    });
}

fn code_that_cannot_run_fails_before_it_does() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let tested = tried(&house, &ADD.replace("return a + b;", "return eval('a + b');")).await;
        assert!(!tested.passed);
        let failure = tested.lines[0].failure.as_ref().expect("a failure");
        assert_eq!(failure.code, ErrorCode::Validation);
        assert!(failure.location.is_some() && failure.hint.is_some(), "{failure:?}");
    });
}

fn a_document_can_be_tried_without_being_kept() {
    block_on(async {
        let place = Place::new();
        let house = place.open().await;
        let before = house.tail(1).await;
        assert!(tried(&house, ADD).await.passed);
        assert_eq!(house.tail(1).await, before);
        assert_eq!(refused(house.call("add", json!({})).await).0, ErrorCode::NotFound);
    });
}
