//! `sandbox.exec` of tools in JavaScript: granted or absent, in sandboxes of their own, on the record with their call.

use bailiwick_core::{Action, Reasons, Reply};
use bailiwick_sandbox::Demand;
use bailiwick_testkit::tests;
use bailiwick_types::{ErrorCode, RiskLevel};
use serde_json::{Value, json};

use crate::commands::{Ground, ground, ground_with};
use crate::stage::{Place, Says, block_on, with, yaml};
use crate::unwalled::Unwalled;

tests!(
    code_runs_commands_where_its_policy_lets_it,
    without_the_grant_there_is_no_sandbox_and_the_fix_is_told,
    every_command_of_a_call_is_on_the_record_with_its_correlation,
    what_cannot_be_held_is_a_refusal_that_code_can_catch,
    a_call_runs_only_so_many_commands,
    a_call_whose_time_is_up_ends_its_commands,
);

const GRANT: &str = "overrides: {addAllow: [process.exec], removeDeny: [process.exec]}\n";

fn tool(code: &str, rest: &str) -> String {
    format!("name: t\ndescription: Runs commands.\n{rest}code: {}\n", json!(code))
}

async fn call(ground: &Ground, code: &str) -> bailiwick_types::CallReport {
    ground.offer("t", &tool(code, GRANT)).await;
    ground.house.call_as(with(Says::yes()), "t", json!({})).await.expect("called")
}

fn code_runs_commands_where_its_policy_lets_it() {
    block_on(async {
        let ground = ground().await;
        let report = call(
            &ground,
            "const a = await sandbox.exec(['sh', '-c', 'cat; echo $A >&2; exit 3'], {stdin: 'in', env: {A: 'env'}});\n\
             const [b, c] = await Promise.all([sandbox.exec(['echo', '-n', '$(id)']), sandbox.exec(['no-such-program'])]);\n\
             return [a, b.stdout, c.exitCode];",
        )
        .await;
        assert_eq!(report.failure(), None);
        let [a, b, c] = report.value().as_array().expect("a list").as_slice() else { panic!("{report:?}") };
        assert_eq!((&a["exitCode"], &a["stdout"], &a["stderr"]), (&json!(3), &json!("in"), &json!("env\n")));
        assert_eq!((b, c), (&json!("$(id)"), &json!(127)));
        assert!(a.get("receipt").is_none() && a.get("sandboxId").is_none(), "{a}");
        assert_eq!(report.risk().level, RiskLevel::L5);
        assert_eq!(ground.alive(), 0);
    });
}

fn without_the_grant_there_is_no_sandbox_and_the_fix_is_told() {
    block_on(async {
        let ground = ground().await;
        let tested = ground.try_out(&tool("return typeof sandbox", "tests: [{equals: undefined}]\n")).await;
        assert!(tested.passed, "{tested:#?}");
        let tested = ground.try_out(&tool("return await sandbox.exec(['id'])", "")).await;
        assert!(!tested.passed && ground.made() == 0, "{tested:#?}");
        // It needs both words, and who publishes it the operator's scope.
        ground.house.import(&[yaml("t", &tool("return 1", GRANT))]).await.expect("imported");
        assert!(ground.house.test("t").await.passed);
        let published = ground.house.publish("t", Reasons::default()).await.expect("it waits");
        assert_eq!(published.tool.state, "AWAITING_REVIEW");
    });
}

fn every_command_of_a_call_is_on_the_record_with_its_correlation() {
    block_on(async {
        let ground = ground().await;
        ground.offer("t", &tool("return (await sandbox.exec(['echo', 'hi'])).stdout", GRANT)).await;
        let correlation = bailiwick_types::CorrelationId::parse("story-1").expect("an id");
        let action = Action::ToolCall {
            tool: "t".to_owned(),
            arguments: serde_json::Map::new(),
            correlation: Some(correlation),
            workspace: None,
        };
        let caller = with(Says::yes());
        let Ok(Reply::Called(report)) = ground.house.core.perform(caller, action).await else { panic!() };
        assert_eq!(report.value(), "hi\n");
        let records = ground.house.tail(20).await;
        let story: Vec<&Value> = records.iter().filter(|one| one["correlationId"] == "story-1").collect();
        let told: Vec<(&str, &str)> = story
            .iter()
            .map(|one| (one["action"].as_str().unwrap_or_default(), one["kind"].as_str().unwrap_or_default()))
            .collect();
        assert_eq!(
            told,
            [
                ("tool.call", "decision"),
                ("tool.call", "intent"),
                ("exec", "intent"),
                ("exec", "outcome"),
                ("tool.call", "outcome"),
            ]
        );
        assert_eq!(story[2]["arguments"]["argv"], json!(["echo", "hi"]));
        assert_eq!((&story[2]["tool"]["name"], &story[3]["outcome"]["exitCode"]), (&json!("t"), &json!(0)));
        assert_eq!(story[2]["arguments"]["sandbox"]["network"], "none");
    });
}

fn what_cannot_be_held_is_a_refusal_that_code_can_catch() {
    block_on(async {
        let backend = Unwalled { lacks: vec![Demand::Network], ..Unwalled::default() };
        let ground = ground_with(Place::new(), backend).await;
        let caught = "try { await sandbox.exec(['id']) } catch (e) { return [e.code, e.reason] }";
        let tested = ground
            .try_out(&tool(caught, &format!("{GRANT}tests: [{{equals: [UNENFORCEABLE, unenforceable]}}]\n")))
            .await;
        assert!(tested.passed && ground.made() == 0, "{tested:#?}");
        let tested = ground.try_out(&tool("await sandbox.exec(['id'])", GRANT)).await;
        let failure = tested.lines[0].failure.as_ref().expect("a failure");
        assert_eq!(failure.code, ErrorCode::Unenforceable, "{failure:?}");
        let odd = "try { await sandbox.exec(['a\\0b']) } catch (e) { return [e.code, e.reason] }";
        let tested = ground
            .try_out(&tool(odd, &format!("{GRANT}tests: [{{equals: [INVALID_INPUT, no-command]}}]\n")))
            .await;
        assert!(tested.passed, "{tested:#?}");
    });
}

fn a_call_runs_only_so_many_commands() {
    block_on(async {
        let ground = ground().await;
        let code = "const all = []; for (let i = 0; i < 70; i++) all.push(sandbox.exec(['true']));\n\
                    const ended = await Promise.allSettled(all);\n\
                    return [ended.filter((one) => one.status === 'fulfilled').length, ended[69].reason?.code];";
        let rest = format!("{GRANT}limits: {{wall: 30s}}\ntests: [{{equals: [64, NESTING_LIMIT]}}]\n");
        let tested = ground.try_out(&tool(code, &rest)).await;
        assert!(tested.passed, "{tested:#?}");
    });
}

fn a_call_whose_time_is_up_ends_its_commands() {
    block_on(async {
        let ground = ground().await;
        let code = "await sandbox.exec(['sleep', '60'])";
        let rest = format!("{GRANT}limits: {{wall: 300ms}}\ntests: [{{throws: {{code: TIMEOUT}}}}]\n");
        let tested = ground.try_out(&tool(code, &rest)).await;
        assert_eq!(tested.lines[1].verdict, bailiwick_core::TestVerdict::Passed, "{tested:#?}");
        assert_eq!(ground.alive(), 0);
    });
}
