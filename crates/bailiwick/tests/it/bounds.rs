//! Limits: each ends the call by its own code, and the message names the limit, its value and where to raise it.

use std::time::{Duration, Instant};

use bailiwick::Call;
use bailiwick::types::ErrorCode;
use serde_json::json;

use crate::stage::{block_on, fails, failure, gives, limited, runtime, with_timers};

bailiwick_testkit::tests!(
    each_limit_has_its_code_and_says_its_value_and_where_to_raise_it,
    code_beyond_its_limit_is_refused_and_code_at_its_limit_runs,
    console_lines_beyond_the_limits_are_counted_and_not_kept,
    a_call_that_ignores_its_deadline_is_killed_from_outside,
    source_that_nests_too_deep_for_a_parser_is_a_limit_and_not_a_crash,
    timers_wait_and_fire_in_order_where_they_are_granted,
    a_timer_beyond_the_deadline_ends_as_a_timeout,
    what_a_cell_has_to_say_of_a_failure_is_cut_and_not_lost,
    thousands_of_findings_are_told_or_cut_and_not_lost,
);

fn each_limit_has_its_code_and_says_its_value_and_where_to_raise_it() {
    block_on(async {
        let runtime = runtime().await;
        for (source, limits, code, value, key) in [
            ("for (;;) {}", "wall: 40ms, cpu: 20s, steps: 10000000000", ErrorCode::Timeout, "40", "wall"),
            ("for (;;) {}", "cpu: 40ms, steps: 10000000000", ErrorCode::CpuLimit, "40", "cpu"),
            ("for (;;) {}", "steps: 20000", ErrorCode::StepLimit, "20000", "steps"),
            (
                "let a = []; for (;;) a.push('x'.repeat(10000) + a.length)",
                "memory: 4MiB",
                ErrorCode::MemoryLimit,
                "4",
                "memory",
            ),
            ("(function f() { f() })()", "stack: 128KiB", ErrorCode::StackLimit, "128", "stack"),
            ("return 'x'.repeat(2000)", "result: 1KiB", ErrorCode::OutputLimit, "1", "result"),
        ] {
            let failure = fails(&runtime, Call::body(source).policy(limited(limits)), code).await;
            assert!(failure.message.replace(['_', ' '], "").contains(value), "{failure:?}");
            let hint = failure.hint.as_deref().unwrap_or_default();
            assert!(hint.contains(&format!("`{key}`")) && hint.contains("ceilings"), "{failure:?}");
        }
    });
}

fn code_beyond_its_limit_is_refused_and_code_at_its_limit_runs() {
    block_on(async {
        let runtime = runtime().await;
        let sized = |bytes: usize| format!("return 1{}", " ".repeat(bytes - 8));
        gives(&runtime, Call::body(sized(102_400)), json!(1)).await;
        let failure = fails(&runtime, Call::body(sized(102_401)), ErrorCode::CodeTooLarge).await;
        assert!(failure.message.contains("102401") && failure.message.contains("100"), "{failure:?}");
        assert!(failure.hint.is_some(), "{failure:?}");
        let refused = runtime.validate(Call::body(sized(102_401))).await.expect("an answer");
        assert_eq!(refused.expect_err("refused").code, ErrorCode::CodeTooLarge);
    });
}

fn console_lines_beyond_the_limits_are_counted_and_not_kept() {
    block_on(async {
        let runtime = runtime().await;
        let source = "for (let i = 0; i < 5000; i++) console.log(i); return 'done'";
        let report = runtime.run(Call::body(source)).await.expect("a report");
        assert_eq!(report.value(), &json!("done"), "{:?}", report.failure());
        assert_eq!((report.logs().len(), report.logs_dropped()), (1000, 4000));
        let source = "for (let i = 0; i < 100; i++) console.log('x'.repeat(100000))";
        let report = runtime.run(Call::body(source)).await.expect("a report");
        let bytes: usize = report.logs().iter().map(|line| line.text.len()).sum();
        assert!(report.is_ok() && bytes <= 262_144 + 64, "{bytes} {:?}", report.failure());
        assert!(report.logs_dropped() >= 97, "{}", report.logs_dropped());
    });
}

fn a_call_that_ignores_its_deadline_is_killed_from_outside() {
    block_on(async {
        let runtime = runtime().await;
        // Single native operations that look at no clock.
        for source in [
            "return 'a'.repeat(1 << 20).includes('a'.repeat(1 << 19) + 'b')",
            "const a = Array.from({ length: 3e6 }, (_, i) => i ^ 0x55555); for (;;) a.sort()",
            "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        ] {
            let policy = limited("wall: 30ms, cpu: 20s, steps: 10000000000, memory: 512MiB");
            let began = Instant::now();
            let report = runtime.run(Call::body(source).policy(policy)).await.expect("a report");
            let took = began.elapsed();
            assert_eq!(failure(&report).code, ErrorCode::Timeout, "{source}");
            assert!(took < Duration::from_secs(2), "{source} took {took:?}");
        }
        gives(&runtime, Call::body("return 1"), json!(1)).await;
    });
}

fn source_that_nests_too_deep_for_a_parser_is_a_limit_and_not_a_crash() {
    block_on(async {
        let runtime = runtime().await;
        for open in
            ["(", "[", "{", "a=>", "!", "`${", "if(1)", "function f(){", "async()=>", "x?", "new ", "-"]
        {
            let source = open.repeat(90_000 / open.len());
            let report = runtime.run(Call::body(source)).await.expect("a report");
            let code = failure(&report).code;
            assert!(
                matches!(code, ErrorCode::StackLimit | ErrorCode::SyntaxError | ErrorCode::MemoryLimit),
                "{open}: {:?}",
                failure(&report)
            );
        }
        gives(&runtime, Call::body("return 1"), json!(1)).await;
    });
}

fn timers_wait_and_fire_in_order_where_they_are_granted() {
    block_on(async {
        let runtime = runtime().await;
        let source = "const seen = [];
            setTimeout(() => seen.push('second'), 20);
            setTimeout(() => seen.push('first'), 1);
            clearTimeout(setTimeout(() => seen.push('never'), 5));
            const began = Date.now();
            await new Promise(done => setTimeout(done, 40));
            return [seen, Date.now() - began >= 35]";
        let call = Call::body(source).policy(with_timers("wall: 5s"));
        gives(&runtime, call, json!([["first", "second"], true])).await;
    });
}

fn a_timer_beyond_the_deadline_ends_as_a_timeout() {
    block_on(async {
        let runtime = runtime().await;
        let policy = with_timers("wall: 60ms");
        let call = Call::body("await new Promise(done => setTimeout(done, 60000))").policy(policy);
        let began = Instant::now();
        fails(&runtime, call, ErrorCode::Timeout).await;
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    });
}

fn what_a_cell_has_to_say_of_a_failure_is_cut_and_not_lost() {
    block_on(async {
        let runtime = runtime().await;
        for source in [
            "throw new Error('x'.repeat(5e6))",
            "throw 'é'.repeat(3e6)",
            "const e = new Error('m'); e.stack = 'y'.repeat(5e6); throw e",
            "const e = new Error('m'); e.name = 'z'.repeat(5e6); throw e",
            "const e = new Error('m', { cause: 'c'.repeat(5e6) }); throw e",
            "const f = { ['f'.repeat(1e6)]() { throw new Error('deep') } }; f['f'.repeat(1e6)]()",
            "throw new AggregateError(Array.from({ length: 1e4 }, (_, i) => new Error('e' + i)), 'many')",
            "throw { message: 'x'.repeat(5e6), stack: 's'.repeat(5e6), name: 'n'.repeat(5e6) }",
            "return { ['k'.repeat(1e6)]: () => 1 }",
            "globalThis['u'.repeat(1e6)].x",
        ] {
            // The smallest result makes the smallest bound on what a cell may say.
            let call = Call::body(source).policy(limited("result: 1KiB"));
            let report = runtime.run(call).await.expect("a report");
            let failure = failure(&report);
            assert!(
                matches!(failure.code, ErrorCode::EvalError | ErrorCode::OutputLimit),
                "{source}: {failure:?}"
            );
            let told = failure.message.len() + failure.stack.as_ref().map_or(0, String::len);
            assert!(told <= 40 * 1024, "{source}: {told} bytes");
        }
        let unknown = format!("return {}", "q".repeat(90_000));
        let failure = fails(&runtime, Call::body(unknown), ErrorCode::EvalError).await;
        assert!(failure.message.len() < 100_000, "{}", failure.message.len());
    });
}

fn thousands_of_findings_are_told_or_cut_and_not_lost() {
    block_on(async {
        let runtime = runtime().await;
        for one in ["eval;", "require('x');", "process.exit();", "new Function('');", "import('x');"] {
            let source = one.repeat(90_000 / one.len());
            let found = runtime.validate(Call::body(source.clone())).await.expect("an answer");
            let found = found.unwrap_or_else(|failure| panic!("{one}: {failure:?}"));
            assert!(found.len() >= 100, "{one}: {}", found.len());
            let call =
                Call::body(source).validate(bailiwick::Validate::First).policy(limited("result: 1KiB"));
            fails(&runtime, call, ErrorCode::Validation).await;
        }
    });
}
