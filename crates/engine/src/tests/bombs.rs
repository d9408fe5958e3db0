//! Code that wants to use everything up, or to go on after it was told to stop.

use bailiwick_wire::{Entry, Given, TroubleKind};

use super::{fails, gives, job, run, trouble_of};

/// A body under a step limit that no honest code of these tests would reach.
#[track_caller]
fn runs_out_of_steps(source: &str) {
    let mut job = job(Entry::Body, source);
    job.limits.steps = Some(200_000);
    assert_eq!(trouble_of(job).kind, TroubleKind::Steps, "{source}");
}

/// A body under a memory limit small enough to be reached quickly.
#[track_caller]
fn runs_out_of_memory(source: &str) {
    let mut job = job(Entry::Body, source);
    job.limits.memory = 4 << 20;
    let told = trouble_of(job);
    assert_eq!(told.kind, TroubleKind::Memory, "{source}: {told:?}");
}

#[test]
fn endless_code_runs_out_of_steps() {
    runs_out_of_steps("while (true);");
    runs_out_of_steps("for (;;) {}");
    runs_out_of_steps("do {} while (1)");
    runs_out_of_steps("[1].forEach(() => { for (;;); })");
    runs_out_of_steps("return 'a'.repeat(40).match(/(a+)+$b/)");
    runs_out_of_steps("return /(a+)+$/.test('a'.repeat(40) + 'b')");
    runs_out_of_steps("return [3, 2, 1].sort(() => { for (;;); })");
    runs_out_of_steps("return 'x'.replace(/x/, () => { for (;;); })");
    runs_out_of_steps("return { toJSON() { for (;;); } }");
    runs_out_of_steps("return { get a() { for (;;); } }");
    runs_out_of_steps("return new Proxy({}, { ownKeys() { for (;;); } })");
    runs_out_of_steps("function* g() { for (;;) yield 1; } for (const x of g());");
    runs_out_of_steps("async function* g() { for (;;) yield 1; } for await (const x of g());");
    runs_out_of_steps("console.log('%s', { toString() { for (;;); } })");
    runs_out_of_steps("console.log('%d', { valueOf() { for (;;); } })");
}

#[test]
fn a_limit_cannot_be_caught() {
    runs_out_of_steps("try { for (;;); } catch { return 'caught' } finally { return 'finally' }");
    runs_out_of_steps("for (;;) { try { for (;;); } catch {} finally { continue } }");
    runs_out_of_steps("async function spin() { for (;;); } for (;;) spin();");
    runs_out_of_steps("async function spin() { for (;;); } for (;;) { try { spin() } catch {} }");
    runs_out_of_steps("for (;;) { try { new Promise(() => { for (;;); }) } catch {} }");
    runs_out_of_steps("async function spin() { for (;;); } try { await spin() } catch { return 'caught' }");
    runs_out_of_steps("async function spin() { for (;;); } return spin().catch(() => 'caught')");
    runs_out_of_steps(
        "function* g() { try { for (;;); } finally { yield 1 } } for (;;) { try { [...g()] } catch {} }",
    );
    runs_out_of_steps("const a = []; try { for (;;) a.push(a.length % 7); } catch {} for (;;);");
    runs_out_of_steps(
        "Error.prepareStackTrace = () => { for (;;); }; try { null.x } catch (e) { e.stack } for (;;);",
    );
}

#[test]
fn endless_chains_of_jobs_run_out_of_steps() {
    runs_out_of_steps("const f = () => Promise.resolve().then(f); await f()");
    runs_out_of_steps("const f = () => { queueMicrotask(f) }; f(); await new Promise(() => {})");
    runs_out_of_steps("const t = { then(r) { r(t) } }; await t");
    runs_out_of_steps("for (;;) await null");
    runs_out_of_steps("setInterval(() => {}, 1); const f = async () => { for (;;) await 1 }; await f()");
}

#[test]
fn clocks_end_what_steps_do_not() {
    let mut endless = job(Entry::Body, "for (;;);");
    endless.limits.steps = None;
    endless.limits.wall_ms = 30;
    assert_eq!(trouble_of(endless.clone()).kind, TroubleKind::Wall);
    endless.limits.wall_ms = 20_000;
    endless.limits.cpu_ms = Some(30);
    assert_eq!(trouble_of(endless.clone()).kind, TroubleKind::Cpu);
    endless.source = "for (;;) await null".to_owned();
    assert_eq!(trouble_of(endless).kind, TroubleKind::Cpu);
    let mut pure = job(Entry::Emit, "for (;;);");
    pure.limits.steps = None;
    pure.limits.cpu_ms = None;
    pure.limits.wall_ms = 30;
    assert_eq!(trouble_of(pure).kind, TroubleKind::Wall);
}

#[test]
fn a_limit_tells_where_it_was_reached() {
    let mut job = job(Entry::Body, "function spin() { for (;;); }\n\n  spin()");
    job.limits.steps = Some(100_000);
    let told = trouble_of(job);
    assert_eq!(told.message, "the limit of 100000 steps was reached");
    assert_eq!(told.location.map(|place| (place.line, place.column)), Some((1, 1)), "{told:?}");
    assert!(told.stack.is_some_and(|stack| stack.ends_with("(code:3:3)")));
}

#[test]
fn memory_bombs_run_out_of_memory() {
    for source in [
        "return 'x'.repeat(2 ** 29)",
        "return new Uint8Array(2 ** 30).length",
        "return new ArrayBuffer(2 ** 30).byteLength",
        "return Array(1e8).fill(0).length",
        "return Array(1e7).fill('long text').join('-').length",
        "let s = 'x'; for (;;) s += s;",
        "const a = []; for (;;) a.push({})",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})",
        "const s = new Set(); for (let i = 0; ; i++) s.add('k' + i)",
        "const w = new WeakMap(), k = []; for (;;) { const o = {}; k.push(o); w.set(o, [1]) }",
        "const f = []; for (let i = 0; ; i++) f.push(() => i)",
        "const s = []; for (let i = 0; ; i++) s.push(Symbol('s' + i))",
        "const o = {}; for (let i = 0; ; i++) o['k' + i] = i",
        "return 'ab'.repeat(2e6).split('').length",
        "return JSON.stringify(Array(1e6).fill('abcdefgh')).length",
        "return structuredClone(Array(4e5).fill({ a: 1 })).map(x => ({ ...x })).length",
        "const e = []; for (;;) e.push(new Error('x').stack)",
        "class A extends Array { static get [Symbol.species]() { return A } } const a = new A(1e6).fill(1); for (;;) a.push(a.slice())",
    ] {
        runs_out_of_memory(source);
    }
}

#[test]
fn a_flood_of_promises_ends() {
    let flood = "function f() { Promise.resolve().then(f); Promise.resolve().then(f) } f(); await new Promise(() => {})";
    let mut body = job(Entry::Body, flood);
    body.limits.steps = Some(2_000_000);
    body.limits.memory = 2 << 20;
    assert!(matches!(trouble_of(body).kind, TroubleKind::Steps | TroubleKind::Memory));
    runs_out_of_steps(flood);
}

#[test]
fn a_number_larger_than_the_engine_holds_is_an_error() {
    fails("return (2n ** (10n ** 8n)).toString().length", TroubleKind::Threw);
    fails("let b = 2n; for (;;) b *= b", TroubleKind::Threw);
}

#[test]
fn code_that_survives_the_memory_limit_may_go_on() {
    gives("try { 'x'.repeat(2 ** 29) } catch { return 'went on' }", r#""went on""#);
    gives("try { new Uint8Array(2 ** 30) } catch (e) { return 1 }", "1");
}

#[test]
fn code_that_fails_after_the_memory_limit_failed_by_it() {
    fails("try { 'x'.repeat(2 ** 29) } catch { throw null }", TroubleKind::Memory);
    fails("try { 'x'.repeat(2 ** 29) } catch { throw new Error('other') }", TroubleKind::Memory);
}

#[test]
fn recursion_runs_out_of_stack() {
    for source in [
        "(function f() { f() })()",
        "const f = async () => { await f() }; await f()",
        "const o = { get a() { return this.a } }; return o.a",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x",
        "const o = { toString() { return '' + this } }; return '' + o",
        "const f = () => [2, 1].sort(f); f()",
        "const f = () => 'a'.replace(/a/, f); f()",
        "const f = () => JSON.stringify({ toJSON: f }); f()",
        "class A { constructor() { new A() } } new A()",
        "return JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a)",
        "function* g() { yield* g() } [...g()]",
        "const f = () => Reflect.apply(f, null, []); f()",
        "const f = (() => { f.bind()() }); f()",
    ] {
        fails(source, TroubleKind::Stack);
    }
}

#[test]
fn recursion_that_is_caught_is_an_ordinary_error() {
    gives(
        "let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return [e.name, n > 100] }",
        r#"["RangeError",true]"#,
    );
}

#[test]
fn source_that_nests_too_deep_is_told_as_the_end_of_the_stack() {
    for open in ["(", "[", "{a:", "a=>", "!", "`${"] {
        let told = trouble_of(job(Entry::Body, &format!("return {}", open.repeat(50_000))));
        assert_eq!(told.kind, TroubleKind::Stack, "{open}");
    }
    // Wherever in the parser it ends.
    for more in (0..2048).step_by(128) {
        let mut body = job(Entry::Body, &format!("return {}", "{a:".repeat(50_000)));
        body.limits.stack += more;
        assert_eq!(trouble_of(body).kind, TroubleKind::Stack, "{more}");
    }
}

#[test]
fn what_hostile_code_throws_is_told_without_running_it() {
    for (source, expected) in [
        ("throw null", "null"),
        ("throw undefined", "undefined"),
        ("throw 'text'", "text"),
        ("throw 5n", "5n"),
        ("throw Symbol('s')", "Symbol(s)"),
        ("throw () => {}", "[Function (anonymous)]"),
        ("throw { a: 1 }", "{ a: 1 }"),
        (
            "throw { get message() { for (;;); }, get stack() { for (;;); } }",
            "{ message: [Getter], stack: [Getter] }",
        ),
        ("throw new Proxy({ a: 1 }, { get() { for (;;); }, ownKeys() { for (;;); } })", "{ a: 1 }"),
        ("throw new Proxy(new Error('inside'), {})", "Error: inside"),
        (
            "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
            "Error",
        ),
        (
            "const e = new Error('m'); Object.defineProperty(e, 'name', { get() { for (;;); } }); throw e",
            "Error: m",
        ),
        (
            "const e = new Error('m'); Object.setPrototypeOf(e, new Proxy({}, { get() { for (;;); } })); throw e",
            "Error: m",
        ),
        ("const e = new Error('m'); Object.defineProperty(e, 'stack', { value: 5 }); throw e", "Error: m"),
        ("const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy", "<Revoked Proxy>"),
    ] {
        let told = super::trouble(source);
        assert_eq!(
            (told.kind, told.message.lines().next().unwrap()),
            (TroubleKind::Threw, expected),
            "{source}"
        );
    }
}

#[test]
fn a_huge_message_is_cut() {
    let told = super::trouble("throw new Error('é'.repeat(1e6))");
    assert!(
        told.message.len() <= 8 * 1024 && told.message.starts_with("Error: éé"),
        "{}",
        told.message.len()
    );
}

#[test]
fn a_value_too_large_to_show_is_still_told() {
    let told = super::trouble(
        "const a = Array(100).fill(Array(100).fill(Array(100).fill('x'.repeat(500)))); throw a",
    );
    assert_eq!(told.kind, TroubleKind::Threw);
    assert!(told.message.len() <= 8 * 1024);
}

#[test]
fn what_is_used_is_counted() {
    let report = run(job(
        Entry::Body,
        "const a = new Uint8Array(1e6); for (let i = 0; i < 50000; i++) a[i] = i; return 1",
    ));
    assert_eq!(report.given, Given::Value("1".to_owned()));
    assert!(report.usage.steps >= 50_000 && report.usage.steps <= 200_000, "{:?}", report.usage);
    assert!((1_000_000..3_000_000).contains(&report.usage.memory_peak), "{:?}", report.usage);
    assert!(report.usage.cpu_us > 0);
}
