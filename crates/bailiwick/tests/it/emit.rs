//! The pure function: the same bytes always, two functions and nothing else, an output that is cut between characters.

use bailiwick::types::ErrorCode;
use bailiwick::{Emitted, PureCall, Runtime, Tenant};

use crate::stage::{block_on, few, runtime};

bailiwick_testkit::tests!(
    text_goes_in_and_comes_out,
    the_same_input_gives_the_same_bytes_in_every_cell,
    nothing_that_differs_from_run_to_run_is_there,
    asynchronous_code_is_refused,
    an_output_beyond_its_limit_is_cut_between_characters,
    an_output_of_exactly_its_limit_is_not_cut,
    a_pure_function_ends_at_its_deadline,
    what_a_pure_function_throws_is_told,
    lone_surrogates_are_emitted_as_some_text,
    bounds_of_nothing_and_of_everything_are_bounds,
);

fn pure(source: &str, input: &str) -> PureCall {
    PureCall {
        source: source.to_owned(),
        input: input.to_owned(),
        wall_ms: 8000,
        output_bytes: 64 * 1024,
        tenant: Tenant::default(),
    }
}

async fn emits(runtime: &Runtime, source: &str, input: &str, expected: &str) {
    let emitted = runtime.emit(pure(source, input)).await.expect("it is started");
    assert_eq!(emitted, Emitted::Output(expected.to_owned()), "{source}");
}

async fn refuses(runtime: &Runtime, call: PureCall, expected: ErrorCode) -> String {
    let source = call.source.clone();
    match runtime.emit(call).await.expect("it is started") {
        Emitted::Failed(failure) => {
            assert_eq!(failure.code, expected, "{source}: {failure:?}");
            failure.message
        }
        other => panic!("{source} gave {other:?}"),
    }
}

fn text_goes_in_and_comes_out() {
    block_on(async {
        let runtime = runtime().await;
        emits(&runtime, "emit(read_input().toUpperCase())", "aé\0😀", "AÉ\0😀").await;
        emits(
            &runtime,
            "emit('a'); emit(1); emit(null); emit(); emit([1, 2]); emit(undefined)",
            "",
            "a1null1,2undefined",
        )
        .await;
        emits(&runtime, "", "unused", "").await;
        emits(&runtime, "const x: number = read_input().length; emit(x)", "four", "4").await;
        emits(&runtime, "emit(read_input().length)", &"x".repeat(4 << 20), "4194304").await;
    });
}

fn the_same_input_gives_the_same_bytes_in_every_cell() {
    block_on(async {
        let runtime = few().parked(8).build().await.expect("cells");
        let source = "const o = {}; for (const w of read_input().split(' ')) o[w] = (o[w] ?? 0) + 1;
            const m = new Map(Object.entries(o)); m.set({}, 1).set(Symbol('x'), 2);
            emit(JSON.stringify(o)); emit([...m.keys()].map(String).join());
            emit(Object.getOwnPropertyNames(globalThis).join()); emit(Reflect.ownKeys(Array.prototype).map(String).join());
            try { null.x } catch (e) { emit(e.stack) } emit(0.1 + 0.2); emit([3, 1, 2].sort().join());
            emit((1e21).toLocaleString()); emit(Math.sin(1e6)); emit('ﬀ'.toUpperCase().normalize('NFKD'))";
        let call = || pure(source, "b a c a 10 9 b");
        let first = runtime.emit(call()).await.expect("it is started");
        assert!(matches!(&first, Emitted::Output(text) if text.len() > 500), "{first:?}");
        for _ in 0..30 {
            assert_eq!(runtime.emit(call()).await.expect("it is started"), first);
        }
        // Another nursery has another layout of its memory; the bytes are the same.
        let other = self::runtime().await;
        assert_eq!(other.emit(call()).await.expect("it is started"), first);
    });
}

fn nothing_that_differs_from_run_to_run_is_there() {
    block_on(async {
        let runtime = runtime().await;
        for name in [
            "console",
            "setTimeout",
            "setInterval",
            "clearTimeout",
            "Promise",
            "Date",
            "WeakRef",
            "FinalizationRegistry",
            "SharedArrayBuffer",
            "Atomics",
            "queueMicrotask",
            "structuredClone",
            "fetch",
            "performance",
            "crypto",
            "require",
            "process",
            "module",
            "eval",
            "Function",
            "tools",
            "safety",
            "sandbox",
            "gc",
            "std",
            "os",
            "print",
            "navigator",
            "Math.random",
        ] {
            emits(&runtime, &format!("emit(typeof {name})"), "", "undefined").await;
        }
        for (name, kind) in [
            ("read_input", "function"),
            ("emit", "function"),
            ("JSON", "object"),
            ("Map", "function"),
            ("Math", "object"),
            ("RegExp", "function"),
            ("BigInt", "function"),
            ("Proxy", "function"),
        ] {
            emits(&runtime, &format!("emit(typeof {name})"), "", kind).await;
        }
        for way in [
            "(() => {}).constructor('return 1')()",
            "(function* () {}).constructor('yield 1')()",
            "[].map.constructor('return 1')()",
        ] {
            refuses(&runtime, pure(&format!("emit({way})"), ""), ErrorCode::EvalError).await;
        }
    });
}

fn asynchronous_code_is_refused() {
    block_on(async {
        let runtime = runtime().await;
        for source in [
            "async function f() {}",
            "const f = async () => 1; f()",
            "await 1",
            "for await (const x of []) {}",
            "async function* g() {}",
            "({ async m() {} })",
            "class A { async m() {} }",
        ] {
            let emitted = runtime.emit(pure(source, "")).await.expect("it is started");
            assert!(
                matches!(&emitted, Emitted::Failed(failure) if !matches!(failure.code, ErrorCode::Crashed | ErrorCode::Internal)),
                "{source}: {emitted:?}"
            );
        }
    });
}

fn an_output_beyond_its_limit_is_cut_between_characters() {
    block_on(async {
        let runtime = runtime().await;
        for (source, bytes, expected) in [
            ("emit('abcdef')", 4, "abcd"),
            ("emit('aé😀é')", 3, "aé"),
            ("emit('aé😀é')", 6, "aé"),
            ("emit('aé😀é')", 7, "aé😀"),
            ("emit('é')", 1, ""),
            ("emit('ab'); emit('cd'); emit('ef')", 5, "abcde"),
            ("emit('abc'); emit('😀'); emit('d')", 4, "abc"),
            ("for (let i = 0; i < 100000; i++) emit('x')", 10, "xxxxxxxxxx"),
        ] {
            let emitted = runtime
                .emit(PureCall { output_bytes: bytes, ..pure(source, "") })
                .await
                .expect("it is started");
            assert_eq!(emitted, Emitted::Cut(expected.to_owned()), "{source} at {bytes}");
        }
    });
}

fn an_output_of_exactly_its_limit_is_not_cut() {
    block_on(async {
        let runtime = runtime().await;
        for (source, bytes, expected) in [
            ("emit('abcd')", 4, "abcd"),
            ("emit('é😀')", 6, "é😀"),
            ("emit('ab'); emit('cd'); emit('')", 4, "abcd"),
        ] {
            let emitted = runtime
                .emit(PureCall { output_bytes: bytes, ..pure(source, "") })
                .await
                .expect("it is started");
            assert_eq!(emitted, Emitted::Output(expected.to_owned()), "{source} at {bytes}");
        }
        let large = PureCall {
            wall_ms: 9000,
            output_bytes: 16 << 20,
            ..pure("emit('x'.repeat(16 * 1024 * 1024))", "")
        };
        let emitted = runtime.emit(large).await.expect("it is started");
        assert!(matches!(&emitted, Emitted::Output(text) if text.len() == 16 << 20), "not all of it came");
    });
}

fn a_pure_function_ends_at_its_deadline() {
    block_on(async {
        let runtime = runtime().await;
        for source in [
            "for (;;) {}",
            "emit('said'); while (true) emit('')",
            "/^(a+)+$/.test('a'.repeat(40) + 'b')",
            // A single native operation that takes minutes and looks at no clock.
            "'a'.repeat(1 << 20).includes('a'.repeat(1 << 19) + 'b')",
        ] {
            let call = PureCall { wall_ms: 40, ..pure(source, "") };
            refuses(&runtime, call, ErrorCode::Timeout).await;
        }
    });
}

fn what_a_pure_function_throws_is_told() {
    block_on(async {
        let runtime = runtime().await;
        let message =
            refuses(&runtime, pure("emit('lost'); throw new RangeError('why')", ""), ErrorCode::EvalError)
                .await;
        assert!(message.contains("RangeError: why"), "{message}");
        for (source, code) in [
            ("emit(", ErrorCode::SyntaxError),
            ("(function f() { f() })()", ErrorCode::StackLimit),
            ("const a = []; for (;;) a.push('x'.repeat(100000) + a.length)", ErrorCode::MemoryLimit),
            ("emit(Symbol())", ErrorCode::EvalError),
            ("emit({ toString() { throw null } })", ErrorCode::EvalError),
        ] {
            refuses(&runtime, pure(source, ""), code).await;
        }
    });
}

fn lone_surrogates_are_emitted_as_some_text() {
    block_on(async {
        let runtime = runtime().await;
        for source in ["emit('a\\ud800b')", "emit('\\udc00')", "emit('\\ud83d'); emit('\\ude00')"] {
            let emitted = runtime.emit(pure(source, "")).await.expect("it is started");
            assert!(matches!(&emitted, Emitted::Output(_)), "{source}: {emitted:?}");
        }
        refuses(&runtime, pure("throw new Error('\\ud800')", ""), ErrorCode::EvalError).await;
    });
}

fn bounds_of_nothing_and_of_everything_are_bounds() {
    block_on(async {
        let runtime = runtime().await;
        let call = PureCall { wall_ms: 0, ..pure("for (;;) {}", "") };
        refuses(&runtime, call, ErrorCode::Timeout).await;
        let call = PureCall { output_bytes: 0, ..pure("emit('x')", "") };
        assert_eq!(runtime.emit(call).await.expect("it is started"), Emitted::Cut(String::new()));
        for most in [u64::MAX, u64::MAX / 2, i64::MAX.unsigned_abs() / 1000] {
            let call = PureCall { wall_ms: most, output_bytes: most, ..pure("emit('x')", "") };
            assert_eq!(runtime.emit(call).await.expect("it is started"), Emitted::Output("x".to_owned()));
        }
    });
}
