//! A name that the policy does not grant: not there at run time, told as a denial with its rule and its fix.

use std::collections::BTreeSet;

use bailiwick::Call;
use bailiwick::types::ErrorCode;
use serde_json::json;

use crate::stage::{block_on, fails, gives, policy, runtime, with_timers};

bailiwick_testkit::tests!(
    a_missing_capability_is_denied_with_its_rule_and_its_fix,
    the_fix_that_a_denial_names_works,
    a_catch_sees_a_plain_reference_error_and_can_go_on,
    a_name_that_never_exists_is_no_denial,
    an_authors_own_variable_is_no_denial,
    the_names_a_call_finds_are_exactly_those_its_policy_lists,
);

fn a_missing_capability_is_denied_with_its_rule_and_its_fix() {
    block_on(async {
        let runtime = runtime().await;
        for (source, capability) in [
            ("setTimeout(() => {}, 1)", "timers"),
            ("return setInterval(() => {}, 1)", "timers"),
            ("return eval('1')", "eval"),
            ("return await fetch('https://example.com/')", "net.fetch"),
        ] {
            let failure = fails(&runtime, Call::body(source), ErrorCode::CapabilityDenied).await;
            let denied = failure.denied.as_ref().unwrap_or_else(|| panic!("no denial in {failure:?}"));
            assert_eq!(json!(denied)["capability"], json!(capability), "{source}");
            assert!(!denied.rule.is_empty(), "{denied:?}");
            assert_eq!(failure.code.class().exit_code(), 3);
            assert!(denied.fix.is_some() && failure.hint.is_some(), "{failure:?}");
            assert_eq!(failure.location.map(|at| at.line), Some(1), "{failure:?}");
        }
    });
}

fn the_fix_that_a_denial_names_works() {
    block_on(async {
        let runtime = runtime().await;
        let source = "await new Promise(done => setTimeout(done, 1)); return 'waited'";
        let failure = fails(&runtime, Call::body(source), ErrorCode::CapabilityDenied).await;
        let fix = failure.denied.and_then(|denied| denied.fix).expect("a fix");
        let document = json!({"overrides": fix.overrides}).to_string();
        gives(&runtime, Call::body(source).policy(policy(&document)), json!("waited")).await;
    });
}

fn a_catch_sees_a_plain_reference_error_and_can_go_on() {
    block_on(async {
        let runtime = runtime().await;
        let source = "try { setTimeout(() => {}) } catch (error) { return [error.name, typeof setTimeout] }";
        gives(&runtime, Call::body(source), json!(["ReferenceError", "undefined"])).await;
        let call = Call::body("return typeof setTimeout").policy(with_timers("wall: 1s"));
        gives(&runtime, call, json!("function")).await;
    });
}

fn a_name_that_never_exists_is_no_denial() {
    block_on(async {
        let runtime = runtime().await;
        for name in
            ["document", "process", "require", "SharedArrayBuffer", "Atomics", "Deno", "std", "os", "print"]
        {
            let failure = fails(&runtime, Call::body(format!("return {name}")), ErrorCode::EvalError).await;
            assert!(failure.denied.is_none() && failure.message.contains(name), "{failure:?}");
        }
    });
}

fn an_authors_own_variable_is_no_denial() {
    block_on(async {
        let runtime = runtime().await;
        gives(&runtime, Call::body("const setTimeout = 1; return setTimeout"), json!(1)).await;
        let failure =
            fails(&runtime, Call::body("throw new Error('setTimeout is not defined')"), ErrorCode::EvalError)
                .await;
        assert!(failure.denied.is_none(), "{failure:?}");
    });
}

fn the_names_a_call_finds_are_exactly_those_its_policy_lists() {
    block_on(async {
        let runtime = runtime().await;
        for policy in [
            policy("{}"),
            with_timers("wall: 5s"),
            policy("removeAllow: [console]"),
            policy("addAllow: [eval]\nremoveDeny: [eval]"),
        ] {
            let root = |name: &String| name.split('.').next().unwrap_or_default().to_owned();
            let listed: BTreeSet<String> = bailiwick::surface(&policy).globals.iter().map(root).collect();
            let source = "Object.getOwnPropertyNames(globalThis)";
            let report = runtime.run(Call::expression(source).policy(policy)).await.expect("a report");
            let names = report.value().as_array().unwrap_or_else(|| panic!("{:?}", report.failure()));
            let found: BTreeSet<String> =
                names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
            assert_eq!(found, listed);
        }
    });
}
