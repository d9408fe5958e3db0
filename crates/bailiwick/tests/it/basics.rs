//! One call: what goes in, what comes out, and what the report says about it.

use bailiwick::types::{CorrelationId, ErrorCode, LogLevel, WallStatus};
use bailiwick::{Call, Demand, Language, Severity, Validate};
use serde_json::{Map, Value, json};

use crate::requires::{Needs, has};
use crate::stage::{block_on, block_on_one_thread, fails, gives, runtime};

bailiwick_testkit::tests!(
    every_shape_of_code_gives_its_value,
    arguments_and_statics_are_variables_and_missing_ones_are_undefined,
    execute_gets_its_params_and_its_config,
    typescript_runs_with_its_types_erased,
    a_language_that_was_named_is_the_only_one,
    what_fails_says_where_in_the_authors_code,
    lines_come_while_the_call_runs_and_in_order,
    a_report_holds_lines_usage_risk_and_ids,
    a_correlation_id_is_carried_and_else_the_call_is_tied_to_itself,
    as_root_with_namespaces_every_wall_stands,
    validation_first_keeps_blocked_code_from_running,
    validation_alone_runs_nothing,
    a_runtime_of_one_thread_is_enough,
    many_calls_at_once_each_get_their_own_answer,
    a_receipt_is_insecure_only_where_the_floor_is_missing,
);

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn every_shape_of_code_gives_its_value() {
    block_on(async {
        let runtime = runtime().await;
        for (call, expected) in [
            (Call::body("return 6 * 7"), json!(42)),
            (
                Call::body("const x = await Promise.resolve('é😀'); return [x, null, true]"),
                json!(["é😀", null, true]),
            ),
            (Call::body(""), json!(null)),
            (
                Call::body("return { big: 2n ** 70n, when: new Date(0), set: new Set([1]) }"),
                json!({"big": "1180591620717411303424", "when": "1970-01-01T00:00:00.000Z", "set": [1]}),
            ),
            (Call::expression("[1, 2, 3].map(x => x * x)"), json!([1, 4, 9])),
            (Call::expression("{ a: 1 }"), json!({"a": 1})),
            (Call::execute("function execute() { return 'declared' }"), json!("declared")),
            (Call::execute("const execute = async () => 'assigned'"), json!("assigned")),
            (Call::execute("export default async function () { return 'exported' }"), json!("exported")),
        ] {
            gives(&runtime, call, expected).await;
        }
    });
}

fn arguments_and_statics_are_variables_and_missing_ones_are_undefined() {
    block_on(async {
        let runtime = runtime().await;
        let call = Call::body("return [typeof given, typeof missing, given.deep[1], unit]")
            .argument("given", json!({"deep": [1, "two"]}))
            .parameters(["given".to_owned(), "missing".to_owned()])
            .statics(map(&json!({"unit": "kg"})));
        gives(&runtime, call, json!(["object", "undefined", "two", "kg"])).await;
        let call = Call::body("return a + b").arguments(map(&json!({"a": 40, "b": 2})));
        gives(&runtime, call, json!(42)).await;
        for name in ["class", "not a name", "Object", "1a", ""] {
            let call = Call::body("return 1").argument(name, 1);
            fails(&runtime, call, ErrorCode::Validation).await;
        }
        let call = Call::body("return 1").argument("same", 1).statics(map(&json!({"same": 2})));
        fails(&runtime, call, ErrorCode::Validation).await;
    });
}

fn execute_gets_its_params_and_its_config() {
    block_on(async {
        let runtime = runtime().await;
        let call = Call::execute("function execute(params, config) { return [params, config] }")
            .arguments(map(&json!({"any name": [1]})))
            .statics(map(&json!({"k": "v"})));
        gives(&runtime, call, json!([{"any name": [1]}, {"k": "v"}])).await;
        fails(&runtime, Call::execute("function run() { return 1 }"), ErrorCode::Validation).await;
    });
}

fn typescript_runs_with_its_types_erased() {
    block_on(async {
        let runtime = runtime().await;
        let source = "interface Pair<T> { a: T; b: T }
            const sum = (p: Pair<number>): number => p.a + p.b;
            return sum({ a, b: 2 } as Pair<number>) satisfies number";
        gives(&runtime, Call::body(source).argument("a", 40), json!(42)).await;
        gives(&runtime, Call::expression("(x as any)!.y").argument("x", json!({"y": 1})), json!(1)).await;
    });
}

fn a_language_that_was_named_is_the_only_one() {
    block_on(async {
        let runtime = runtime().await;
        let typed = Call::body("const x: number = 1; return x");
        gives(&runtime, typed.clone().language(Language::TypeScript), json!(1)).await;
        fails(&runtime, typed.language(Language::JavaScript), ErrorCode::SyntaxError).await;
    });
}

fn what_fails_says_where_in_the_authors_code() {
    block_on(async {
        let runtime = runtime().await;
        for (source, code, message, line) in [
            ("const a = 1;\nthrow new TypeError('no')", ErrorCode::EvalError, "TypeError: no", 2),
            ("let x = 1;\n\n  null.y", ErrorCode::EvalError, "null", 3),
            ("return 1;\nconst = 2", ErrorCode::SyntaxError, "", 2),
        ] {
            let failure = fails(&runtime, Call::body(source), code).await;
            assert!(failure.message.contains(message), "{failure:?}");
            assert_eq!(failure.location.map(|at| at.line), Some(line), "{source}\n{failure:?}");
        }
        for thrown in ["null", "undefined", "0", "Symbol()", "{}", "'text'", "{ get message() { throw 1 } }"]
        {
            fails(&runtime, Call::body(format!("throw {thrown}")), ErrorCode::EvalError).await;
        }
        fails(&runtime, Call::body("await new Promise(() => {})"), ErrorCode::Deadlock).await;
    });
}

fn lines_come_while_the_call_runs_and_in_order() {
    block_on(async {
        let runtime = runtime().await;
        let (send, mut lines) = tokio::sync::mpsc::unbounded_channel();
        // It never ends by itself: a line that arrives has arrived before the end.
        let source =
            "for (let i = 0; i < 50; i++) console.log('line', i); console.error('last'); for (;;) {}";
        let policy = crate::stage::limited("wall: 5s, cpu: 10s, steps: 10000000000");
        let call = Call::body(source).policy(policy);
        let running = runtime.run_with(call, move |line| {
            send.send(line).expect("somebody listens");
        });
        let heard = async {
            let mut heard = Vec::new();
            while heard.len() < 51 {
                heard.push(lines.recv().await.expect("a line"));
            }
            heard
        };
        let heard = tokio::select! {
            heard = heard => heard,
            ended = running => panic!("it ended first: {ended:?}"),
        };
        for (number, line) in heard.iter().take(50).enumerate() {
            assert_eq!((line.level, line.text.as_str()), (LogLevel::Log, format!("line {number}").as_str()));
        }
        assert_eq!((heard[50].level, heard[50].text.as_str()), (LogLevel::Error, "last"));
        assert!(heard.is_sorted_by_key(|line| line.at), "{heard:?}");
    });
}

fn a_report_holds_lines_usage_risk_and_ids() {
    block_on(async {
        let runtime = runtime().await;
        let source = "console.info('hello'); let n = 0; for (let i = 0; i < 200000; i++) n += i; return n";
        let report = runtime.run(Call::body(source)).await.expect("a report");
        assert!(report.is_ok() && report.exit_code() == 0, "{report:?}");
        assert_eq!(report.logs().iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["hello"]);
        let usage = report.usage();
        assert!(usage.steps >= 100_000, "{usage:?}");
        assert!(usage.memory_peak > 0, "{usage:?}");
        assert!(usage.cpu_ms > 0.0 && usage.wall_ms > 0.0, "{usage:?}");
        assert_eq!((usage.fetches, usage.bytes_in, usage.bytes_out), (0, 0, 0));
        assert_eq!(report.logs_dropped(), 0);
        let json = json!(report);
        for field in [
            "ok",
            "value",
            "error",
            "logs",
            "logsDropped",
            "usage",
            "risk",
            "receipt",
            "callId",
            "correlationId",
        ] {
            assert!(json.get(field).is_some(), "no {field} in {json}");
        }
        assert_eq!(json["risk"]["level"], json!("L0"), "{json}");
    });
}

fn a_correlation_id_is_carried_and_else_the_call_is_tied_to_itself() {
    block_on(async {
        let runtime = runtime().await;
        let id = CorrelationId::parse("order-66").expect("an id");
        let report = runtime.run(Call::body("return 1").correlation(id)).await.expect("a report");
        assert_eq!(json!(report)["correlationId"], json!("order-66"));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..5 {
            let json = json!(runtime.run(Call::body("return 1")).await.expect("a report"));
            assert_eq!(json["correlationId"], json["callId"]);
            assert!(seen.insert(json["callId"].to_string()), "an id came twice: {json}");
        }
    });
}

fn as_root_with_namespaces_every_wall_stands() {
    if !has(&[Needs::Root, Needs::UserNamespaces]) {
        return;
    }
    block_on(async {
        let runtime = runtime().await;
        let report = runtime.run(Call::body("return 1")).await.expect("a report");
        let receipt = report.receipt();
        assert!(!receipt.insecure);
        assert!(receipt.walls.len() >= 13, "{receipt:?}");
        for wall in &receipt.walls {
            // Where a container has no cgroup to write to, only that part is absent.
            let may_be_absent = wall.demand == "memory of all calls together";
            assert!(wall.status == WallStatus::Enforced || may_be_absent, "{wall:?}");
            assert!(wall.status != WallStatus::Enforced || !wall.mechanism.contains("(no"), "{wall:?}");
        }
        assert_eq!(json!(receipt)["tier"], json!("PROCESS"));
    });
}

fn validation_first_keeps_blocked_code_from_running() {
    block_on(async {
        let runtime = runtime().await;
        let source = "console.log('ran');\nreturn require('fs')";
        let mut ran = false;
        let call = Call::body(source).validate(Validate::First);
        let report = runtime.run_with(call, |_| ran = true).await.expect("a report");
        let failure = crate::stage::failure(&report);
        assert_eq!((failure.code, ran), (ErrorCode::Validation, false), "{failure:?}");
        assert!(failure.message.contains("require"), "{failure:?}");
        assert_eq!(failure.location.map(|at| at.line), Some(2));
        gives(&runtime, Call::body("return 'require'").validate(Validate::First), json!("require")).await;
    });
}

fn validation_alone_runs_nothing() {
    block_on(async {
        let runtime = runtime().await;
        let findings = runtime.validate(Call::body("for (;;) {}\nprocess.exit()")).await.expect("an answer");
        let findings = findings.expect("it parses");
        assert_eq!(findings.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["process"]);
        assert_eq!(findings[0].severity, Severity::Error);
        let failure = runtime.validate(Call::body("((((")).await.expect("an answer").expect_err("no syntax");
        assert_eq!(failure.code, ErrorCode::SyntaxError);
    });
}

fn a_runtime_of_one_thread_is_enough() {
    block_on_one_thread(async {
        let runtime = runtime().await;
        let calls = (0..12).map(|number| {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                gives(&runtime, Call::body("return n").argument("n", number), json!(number)).await;
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.expect("it gives its number");
        }
    });
}

fn many_calls_at_once_each_get_their_own_answer() {
    block_on(async {
        let runtime = crate::stage::few().parked(8).build().await.expect("cells");
        let calls = (0..100).map(|number| {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                let call = Call::body("console.log(n); return n * 2").argument("n", number);
                let report = runtime.run(call).await.expect("a report");
                assert_eq!(report.value(), &json!(number * 2));
                assert_eq!(report.logs().first().map(|line| line.text.clone()), Some(number.to_string()));
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.expect("its own answer");
        }
    });
}

fn a_receipt_is_insecure_only_where_the_floor_is_missing() {
    block_on(async {
        // Whoever would take less still gets all there is, and is told what there is.
        let runtime = crate::stage::few().demand(Demand::InsecureIfNeeded).build().await.expect("cells");
        let report = runtime.run(Call::body("return 1")).await.expect("a report");
        let floor = ["own process", "no other system calls", "no network", "no files"];
        let stands = |demand: &&str| {
            let mut walls = report.receipt().walls.iter();
            walls.any(|wall| wall.demand == **demand && wall.status == WallStatus::Enforced)
        };
        assert_eq!(report.receipt().insecure, !floor.iter().all(stands), "{:?}", report.receipt());
        assert_eq!(json!(report)["receipt"].get("insecure").is_some(), report.receipt().insecure);
    });
}
