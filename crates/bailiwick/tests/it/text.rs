//! Text and data of every kind go in and come out as they are, and nothing in them is taken for something else.

use std::sync::Arc;

use bailiwick::policy::Baseline;
use bailiwick::types::{ErrorCode, LimitKind};
use bailiwick::{Call, Runtime};
use serde_json::{Value, json};

use crate::stage::{block_on, fails, few, gives, policy_over, runtime};

bailiwick_testkit::tests!(
    a_proto_in_the_arguments_is_plain_data,
    arguments_come_back_as_they_went_in,
    arguments_as_deep_as_json_goes_are_taken,
    a_result_that_nests_too_deep_is_told_as_such,
    lone_surrogates_end_as_text_or_as_the_codes_own_failure,
    nul_bytes_in_the_source_do_no_harm,
    a_source_of_ten_megabytes_runs_where_the_operator_allows_it,
    arguments_beyond_their_bound_are_refused_before_a_cell_is_asked,
    megabytes_of_arguments_and_results_pass,
    code_cannot_step_out_of_what_is_put_around_it,
    a_comment_at_the_end_swallows_nothing,
    a_thousand_arguments_are_variables,
);

fn a_proto_in_the_arguments_is_plain_data() {
    block_on(async {
        let runtime = runtime().await;
        let hostile: Value = serde_json::from_str(
            r#"{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}"#,
        )
        .expect("JSON");
        let source = "return [typeof {}.polluted, Object.getPrototypeOf(x) === Object.prototype, Object.keys(x), x['__proto__'].polluted]";
        let expected = json!(["undefined", true, ["__proto__", "constructor"], true]);
        gives(&runtime, Call::body(source).argument("x", hostile.clone()), expected).await;
        let source = "function execute(x) { return [typeof {}.polluted, Object.getPrototypeOf(x) === Object.prototype, typeof x.polluted] }";
        let call = Call::execute(source).arguments(hostile.as_object().cloned().expect("an object"));
        gives(&runtime, call, json!(["undefined", true, "undefined"])).await;
    });
}

fn arguments_come_back_as_they_went_in() {
    block_on(async {
        let runtime = runtime().await;
        for value in [
            json!("\u{2028}\u{2029}\0\u{feff}\u{10ffff}'\"\\`${1}</script>"),
            json!([0.1, -1e-7, 1e21, 9_007_199_254_740_991_i64, true, null, {}, []]),
            json!({"": 1, "a.b": 2, "\n": 3, "1": 4, "toJSON": 5, "then": 6}),
            json!("😀".repeat(10_000)),
        ] {
            // A key that is an index comes first in JavaScript; as JSON both are the same object.
            gives(&runtime, Call::body("return x").argument("x", value.clone()), value).await;
        }
    });
}

fn arguments_as_deep_as_json_goes_are_taken() {
    block_on(async {
        let runtime = runtime().await;
        for depth in [10, 100, 120] {
            let mut deep = json!("bottom");
            for _ in 0..depth {
                deep = json!([deep]);
            }
            let source = "let n = 0; while (Array.isArray(x)) { x = x[0]; n++ } return [n, x]";
            gives(&runtime, Call::body(source).argument("x", deep), json!([depth, "bottom"])).await;
        }
    });
}

fn a_result_that_nests_too_deep_is_told_as_such() {
    block_on(async {
        let runtime = runtime().await;
        // An unoptimised build needs more stack for the same depth.
        let policy = crate::stage::limited("stack: 4MiB");
        let nested = |depth: u32| {
            Call::body("let a = 1; for (let i = 0; i < depth; i++) a = [a]; return a")
                .argument("depth", depth)
                .policy(policy.clone())
        };
        for depth in [1, 99, 100] {
            let report = runtime.run(nested(depth)).await.expect("a report");
            assert!(report.is_ok(), "{depth}: {:?}", report.failure());
        }
        for depth in [101, 127, 128, 129, 1000, 10_000] {
            let failure = fails(&runtime, nested(depth), ErrorCode::EvalError).await;
            assert!(failure.message.contains("nested deeper"), "{failure:?}");
        }
    });
}

fn lone_surrogates_end_as_text_or_as_the_codes_own_failure() {
    block_on(async {
        let runtime = runtime().await;
        let mut wrong = Vec::new();
        for source in [
            "return '\\ud800'",
            "return 'a\\udc00b'",
            "return { '\\ud83d': 1 }",
            "return ['\\ud83d' + 'x', '\\ud83d\\ude00']",
            "console.log('\\ud800'); return 1",
            "throw new Error('\\ud800')",
            "throw '\\udfff'",
        ] {
            let report = runtime.run(Call::body(source)).await.expect("a report");
            let code = report.failure().map(|failure| failure.code);
            if !matches!(code, None | Some(ErrorCode::EvalError)) {
                wrong.push((source, code));
            }
        }
        assert_eq!(wrong, []);
    });
}

fn nul_bytes_in_the_source_do_no_harm() {
    block_on(async {
        let runtime = runtime().await;
        gives(&runtime, Call::body("return 'a\0b'.length"), json!(3)).await;
        gives(&runtime, Call::body("// a\0b\nreturn `\0`.charCodeAt(0)"), json!(0)).await;
        // Between tokens it is no white space; what stands behind it must not vanish.
        fails(&runtime, Call::body("return 1\0 + 1"), ErrorCode::SyntaxError).await;
        fails(&runtime, Call::expression("1\0"), ErrorCode::SyntaxError).await;
    });
}

/// A runtime whose operator allows much code.
async fn generous() -> (Runtime, Arc<Baseline>) {
    let mut baseline = Baseline::shipped();
    baseline.ceilings.limits.set(LimitKind::Code, 32 << 20).expect("a limit");
    baseline.limits.set(LimitKind::Code, 32 << 20).expect("a limit");
    let baseline = Arc::new(baseline);
    (few().baseline(Arc::clone(&baseline)).build().await.expect("cells"), baseline)
}

fn a_source_of_ten_megabytes_runs_where_the_operator_allows_it() {
    block_on(async {
        let (runtime, baseline) = generous().await;
        let policy = policy_over(&baseline, "limits: {wall: 20s, cpu: 20s, memory: 512MiB}");
        let comment = format!("/*{}*/ return 'after it'", "x".repeat(10 << 20));
        gives(&runtime, Call::body(comment).policy(Arc::clone(&policy)), json!("after it")).await;
        let string = format!("return '{}'.length", "é".repeat(5 << 20));
        gives(&runtime, Call::body(string).policy(Arc::clone(&policy)), json!(5 << 20)).await;
        let statements = format!("let n = 0;\n{}return n", "n++;\n".repeat(50_000));
        gives(&runtime, Call::body(statements).policy(policy), json!(50_000)).await;
    });
}

fn arguments_beyond_their_bound_are_refused_before_a_cell_is_asked() {
    block_on(async {
        let runtime = runtime().await;
        let call = Call::body("return x.length").argument("x", "x".repeat(17 << 20));
        let failure = fails(&runtime, call, ErrorCode::InvalidInput).await;
        assert!(failure.hint.is_some() && failure.message.contains("arguments"), "{failure:?}");
    });
}

fn megabytes_of_arguments_and_results_pass() {
    block_on(async {
        let runtime = runtime().await;
        let policy = crate::stage::limited("result: 16MiB, memory: 256MiB");
        let text = "0123456789abcdef".repeat(512 << 10);
        let call = Call::body("return x + x.length").argument("x", text.clone()).policy(policy);
        gives(&runtime, call, json!(format!("{text}{}", 8 << 20))).await;
    });
}

fn code_cannot_step_out_of_what_is_put_around_it() {
    block_on(async {
        let runtime = runtime().await;
        for source in [
            "return 1 } async function second() { return 2",
            "return 1 }); (async () => { return 2",
            "}\n{",
            "}; globalThis.x = 1; {",
            "return 1; } catch {} finally {",
            "`${",
            "/* never closed",
            "return 'never closed",
            "*/ return 1 /*",
        ] {
            fails(&runtime, Call::body(source), ErrorCode::SyntaxError).await;
        }
        for source in ["1) + (2", "1, 2); (3", "1; 2", "", "return 1", "1 }", "if (1) 2"] {
            fails(&runtime, Call::expression(source), ErrorCode::SyntaxError).await;
        }
        for source in ["return this === undefined || this === globalThis", "return new.target === undefined"]
        {
            gives(&runtime, Call::body(source), json!(true)).await;
        }
    });
}

fn a_comment_at_the_end_swallows_nothing() {
    block_on(async {
        let runtime = runtime().await;
        for source in ["return 1 // end", "return 1 /* end */", "return 1\n// end\u{2028}", "return 1 // \\"]
        {
            gives(&runtime, Call::body(source), json!(1)).await;
        }
        gives(&runtime, Call::expression("1 // end"), json!(1)).await;
        gives(&runtime, Call::execute("function execute() { return 1 } // end"), json!(1)).await;
        let emitted = runtime.emit(bailiwick::PureCall {
            source: "emit(1) // end".to_owned(),
            input: String::new(),
            wall_ms: 5000,
            output_bytes: 100,
            tenant: bailiwick::Tenant::default(),
        });
        assert_eq!(emitted.await.expect("it is started"), bailiwick::Emitted::Output("1".to_owned()));
    });
}

fn a_thousand_arguments_are_variables() {
    block_on(async {
        let runtime = runtime().await;
        let mut call = Call::body("return a0 + a500 + a999");
        for number in 0..1000 {
            call = call.argument(format!("a{number}"), number);
        }
        gives(&runtime, call, json!(1499)).await;
    });
}
