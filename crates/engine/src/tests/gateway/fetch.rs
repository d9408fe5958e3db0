//! `fetch`: what is asked of the world, and what becomes of the answer.

use bailiwick_types::{Effect, FetchRequest};
use bailiwick_wire::{Entry, Given, TroubleKind};

use super::{granted, rows, world};
use crate::tests::{Fake, job, run_in};
use crate::{Breadth, Outside, Warm};

#[test]
fn a_request_is_asked_as_it_was_written() {
    rows(
        "const echo = async (u, i) => (await fetch(u, i)).text(); const u = 'https://e.test/echo'",
        &[
            ("echo(u)", r#""GET https://e.test/echo [] None Follow None 0""#),
            ("echo('HTTPS://E.TEST:443/echo')", r#""GET https://e.test/echo [] None Follow None 0""#),
            ("echo(new URL('/echo?q=1#f', u))", r#""GET https://e.test/echo?q=1#f [] None Follow None 0""#),
            (
                "echo(u, { method: 'delete', redirect: 'manual' })",
                r#""DELETE https://e.test/echo [] None Manual None 0""#,
            ),
            (
                "echo(u, { maxBytes: 10, offset: 5, redirect: 'error' })",
                r#""GET https://e.test/echo [] None Error Some(10) 5""#,
            ),
            ("echo(u, { maxBytes: 0 })", r#""GET https://e.test/echo [] None Follow Some(0) 0""#),
            (
                "echo(u, { headers: { 'X-B': '2', a: ' 1 ' } })",
                r#""GET https://e.test/echo [x-b=2|a=1] None Follow None 0""#,
            ),
            (
                "echo(u, { method: 'POST', body: 'héé' })",
                r#""POST https://e.test/echo [content-type=text/plain;charset=UTF-8] Some(\"héé\") Follow None 0""#,
            ),
            (
                "echo(u, { method: 'POST', body: '' })",
                r#""POST https://e.test/echo [content-type=text/plain;charset=UTF-8] Some(\"\") Follow None 0""#,
            ),
            (
                "echo(u, { method: 'PUT', body: new Uint8Array([65, 66]).subarray(1) })",
                r#""PUT https://e.test/echo [] Some(\"B\") Follow None 0""#,
            ),
            (
                "echo(u, { method: 'PATCH', body: new URLSearchParams([['a', 'b c']]) })",
                r#""PATCH https://e.test/echo [content-type=application/x-www-form-urlencoded;charset=UTF-8] Some(\"a=b+c\") Follow None 0""#,
            ),
            (
                "echo(u, { method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json' } })",
                r#""POST https://e.test/echo [content-type=application/json] Some(\"{\\\"a\\\":1}\") Follow None 0""#,
            ),
            (
                "echo(new Request(u, { method: 'POST', body: 'x', maxBytes: 7, headers: [['a', 'b']] }))",
                r#""POST https://e.test/echo [a=b|content-type=text/plain;charset=UTF-8] Some(\"x\") Follow Some(7) 0""#,
            ),
            (
                "echo(new Request(u, { maxBytes: 7 }), { maxBytes: 8, method: 'OPTIONS' })",
                r#""OPTIONS https://e.test/echo [] None Follow Some(8) 0""#,
            ),
            ("fetch()", "!TypeError: fetch: 1 argument required"),
            ("fetch('/relative')", "!TypeError: '/relative' is no absolute URL"),
            ("fetch('https://')", "!TypeError"),
            ("fetch(u, { body: 'x' })", "!TypeError"),
            ("fetch(u, { maxBytes: NaN })", "!RangeError"),
            ("fetch(u, { headers: [[]] })", "!TypeError"),
            ("fetch(Symbol())", "!TypeError"),
            ("fetch(u, 'x')", "!TypeError"),
            ("fetch(u).constructor === Promise", "true"),
            ("[fetch.name, fetch.length, 'prototype' in fetch]", r#"["fetch",1,false]"#),
            (
                "(() => { try { fetch('nothing').catch(() => {}); return 'no throw' } catch { return 'threw' } })()",
                r#""no throw""#,
            ),
            (
                "(async () => { const r = new Request(u, { method: 'POST', body: 'x' }); await fetch(r); return r.bodyUsed })()",
                "true",
            ),
            (
                "(async () => { const r = new Request(u, { method: 'POST', body: 'x' }); await fetch(r); await fetch(r) })()",
                "!TypeError: The body was read already",
            ),
        ],
    );
}

#[test]
fn a_refusal_is_a_type_error_that_says_why() {
    rows(
        "let e; try { await fetch('https://e.test/refuse') } catch (x) { e = x }",
        &[
            (
                "[e instanceof TypeError, e.message, e.code, e.reason, e.hint, e.denied]",
                r#"[true,"the host said no (host-not-allowed)","NET_DENIED","host-not-allowed","ask for it",{"capability":"net.fetch"}]"#,
            ),
            ("Object.keys(e)", r#"["code","reason","hint","denied"]"#),
        ],
    );
}

#[test]
fn an_uncaught_refusal_names_its_effect_and_cannot_be_forged() {
    let refusal = |source: &str| {
        let report = run_in(job(Entry::Body, source), &world());
        let Given::Trouble(told) = report.given else { panic!("{source}: {report:?}") };
        assert_eq!(told.kind, TroubleKind::Threw);
        (told.refusal, told.location.map(|at| at.line))
    };
    assert_eq!(
        refusal("await fetch('https://e.test/json');\nawait fetch('https://e.test/refuse')"),
        (Some(2), Some(2))
    );
    assert_eq!(refusal("try { await fetch('https://e.test/refuse') } catch (e) { e.message = 'x'; delete e.code; throw e }").0, Some(1));
    for forged in [
        "throw Object.assign(new TypeError(e.message), e)",
        "throw Object.create(e)",
        "throw Object.setPrototypeOf(new Error('x'), e)",
        "const f = new TypeError('x'); for (const k of Reflect.ownKeys(e)) Object.defineProperty(f, k, Object.getOwnPropertyDescriptor(e, k)); throw f",
        "throw new Proxy(e, {})",
        "throw new Error('x', { cause: e })",
        "throw structuredClone(e)",
    ] {
        assert_eq!(
            refusal(&format!("try {{ await fetch('https://e.test/refuse') }} catch (e) {{ {forged} }}")).0,
            None,
            "{forged}"
        );
    }
}

#[test]
fn many_go_at_once_and_come_back_in_any_order() {
    let source = "const order = []; const all = await Promise.all(Array.from({ length: 64 }, async (_, i) => { const r = await fetch('https://e.test/echo?' + i); order.push(i); return (await r.text()).split(' ')[1] }));
        return [all.length, all.every((u, i) => u === 'https://e.test/echo?' + i), order[0], order[63]]";
    let forwards = world();
    assert_eq!(run_in(job(Entry::Body, source), &forwards).given, Given::Value("[64,true,0,63]".to_owned()));
    assert_eq!(forwards.asked.borrow().len(), 64);
    let mut backwards = world();
    std::rc::Rc::get_mut(&mut backwards).unwrap().is_backwards = true;
    assert_eq!(run_in(job(Entry::Body, source), &backwards).given, Given::Value("[64,true,63,0]".to_owned()));
}

#[test]
fn the_first_of_a_race_is_enough() {
    let source = "return await Promise.race([fetch('https://e.test/never'), fetch('https://e.test/json')]).then(r => r.url)";
    assert_eq!(
        run_in(job(Entry::Body, source), &world()).given,
        Given::Value(r#""https://e.test/json""#.to_owned())
    );
    // What nobody waits for does not hold the call up.
    let source = "fetch('https://e.test/never'); return 1";
    assert_eq!(run_in(job(Entry::Body, source), &world()).given, Given::Value("1".to_owned()));
}

#[test]
fn an_answer_that_never_comes_ends_at_the_wall_clock_limit() {
    let mut body = job(Entry::Body, "await fetch('https://e.test/never')");
    body.limits.wall_ms = 2_000;
    let report = run_in(body, &world());
    let Given::Trouble(told) = report.given else { panic!("{report:?}") };
    assert_eq!(told.kind, TroubleKind::Wall);
}

#[test]
fn header_values_keep_their_bytes() {
    let world = world();
    let report = run_in(
        job(Entry::Body, "await fetch('https://e.test/x', { headers: { a: '\\u00e9\\u00ff' } }); return 0"),
        &world,
    );
    assert_eq!(report.given, Given::Value("0".to_owned()));
    let asked = world.asked.borrow();
    let Some((1, Effect::Fetch(FetchRequest { headers, .. }))) = asked.first() else { panic!("{asked:?}") };
    assert_eq!(headers, &[("a".to_owned(), "\u{e9}\u{ff}".to_owned())]);
}

#[test]
fn an_engine_for_one_call_has_them_when_they_are_touched() {
    for (source, expected) in [
        ("return (await fetch('https://e.test/json')).status", "200"),
        (
            "Object.prototype.then = undefined; Array.prototype.length = 3; return new Headers({ a: '1' }).get('a')",
            r#""1""#,
        ),
        ("return safety.fs.exists('x')", r#""Exists { path: \"x\" }""#),
        (
            "return [typeof Request, typeof AbortSignal.timeout, Object.keys(safety.fs).length]",
            r#"["function","function",24]"#,
        ),
    ] {
        let world: std::rc::Rc<Fake> = world();
        let outside: std::rc::Rc<dyn Outside> = std::rc::Rc::clone(&world) as std::rc::Rc<dyn Outside>;
        let report = Warm::new(Breadth::Ordinary).unwrap().run(job(Entry::Body, source), outside);
        assert_eq!(report.given, Given::Value(expected.to_owned()), "{source}");
    }
}

#[test]
fn fetch_works_by_itself() {
    let source = "const r = await fetch('https://e.test/form', { method: 'POST', body: 'x' }); const f = await r.formData(); return [f.get('b'), typeof FormData]";
    assert_eq!(
        run_in(granted(source, &["fetch"]), &world()).given,
        Given::Value(r#"["x y z","undefined"]"#.to_owned())
    );
}
