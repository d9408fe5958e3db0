//! `AbortController` and `AbortSignal`: what aborts, in which order, and what waits for it.

use bailiwick_wire::{Entry, Given, TroubleKind};

use super::{granted, rows, world};
use crate::tests::{gives, job, run_in, trouble};

#[test]
fn a_signal_aborts_once_and_says_why() {
    rows(
        "const c = new AbortController(); const s = c.signal; const log = []; s.onabort = e => log.push(['on', e.type, e.target === s, e.isTrusted]);
         s.addEventListener('abort', () => log.push('a')); const before = [s.aborted, s.reason]; c.abort(); c.abort('late')",
        &[
            ("before", "[false,null]"),
            ("[s.aborted, s.reason.name, s.reason.code]", r#"[true,"AbortError",20]"#),
            ("s.reason.message", r#""This operation was aborted""#),
            ("log", r#"[["on","abort",true,true],"a"]"#),
            ("s.throwIfAborted()", "!AbortError: This operation was aborted"),
            ("c.signal === s", "true"),
            ("new AbortController().signal.throwIfAborted()", "undefined"),
            ("AbortSignal.abort().reason.name", r#""AbortError""#),
            ("AbortSignal.abort('why').reason", r#""why""#),
            ("AbortSignal.abort(null).reason", "null"),
            ("new AbortSignal()", "!TypeError: Illegal constructor"),
            ("AbortController()", "!TypeError"),
            ("AbortController.prototype.abort.call({})", "!TypeError"),
            ("AbortSignal.prototype.throwIfAborted.call({})", "!TypeError"),
            ("Object.prototype.toString.call(s)", r#""[object AbortSignal]""#),
            ("Object.prototype.toString.call(c)", r#""[object AbortController]""#),
            ("(() => { const c = new AbortController(); c.abort(undefined); return c.signal.reason.name })()", r#""AbortError""#),
            ("(() => { const c = new AbortController(); const r = {}; c.abort(r); return c.signal.reason === r })()", "true"),
        ],
    );
}

#[test]
fn listeners_are_told_in_their_order() {
    rows(
        "const told = set => { const c = new AbortController(); const log = []; set(c.signal, log, c); c.abort('r'); return log }",
        &[
            (
                "told((s, log) => { s.addEventListener('abort', () => log.push(1)); s.onabort = () => log.push(2); s.addEventListener('abort', () => log.push(3)); s.onabort = () => log.push(4) })",
                "[1,4,3]",
            ),
            (
                "told((s, log) => { const f = () => log.push(1); s.addEventListener('abort', f); s.addEventListener('abort', f); s.addEventListener('abort', f, true) })",
                "[1,1]",
            ),
            (
                "told((s, log) => { const f = () => log.push(1); s.addEventListener('abort', f); s.removeEventListener('abort', f, true); s.addEventListener('abort', f, { once: true }) })",
                "[1]",
            ),
            (
                "told((s, log) => { const f = () => log.push(1); s.addEventListener('abort', f); s.removeEventListener('abort', f) })",
                "[]",
            ),
            (
                "told((s, log) => { s.addEventListener('abort', { handleEvent(e) { log.push(e.type, this !== s) } }) })",
                r#"["abort",true]"#,
            ),
            (
                "told((s, log) => { s.addEventListener('abort', function (e) { log.push(this === s, e.currentTarget === s) }) })",
                "[true,true]",
            ),
            (
                "told((s, log) => { s.addEventListener('abort', e => { log.push(1); e.stopImmediatePropagation() }); s.addEventListener('abort', () => log.push(2)) })",
                "[1]",
            ),
            (
                "told((s, log) => { const g = () => log.push(2); s.addEventListener('abort', () => { log.push(1); s.removeEventListener('abort', g); s.addEventListener('abort', () => log.push(3)) }); s.addEventListener('abort', g) })",
                "[1]",
            ),
            (
                "told((s, log) => { s.addEventListener('other', () => log.push(1)); s.addEventListener('abort', null); s.addEventListener('abort', undefined) })",
                "[]",
            ),
            (
                "told((s, log) => { s.onabort = () => log.push(1); s.onabort = 5; log.push(s.onabort) })",
                "[null]",
            ),
            (
                "told((s, log, c) => { const other = new AbortController(); s.addEventListener('abort', () => log.push(1), { signal: other.signal }); other.abort() })",
                "[]",
            ),
            (
                "told((s, log, c) => s.addEventListener('abort', () => { log.push(s.aborted, s.reason); c.abort('again') }))",
                r#"[true,"r"]"#,
            ),
            ("told((s) => s.addEventListener('abort', 5))", "!TypeError"),
            ("told((s) => s.addEventListener('abort'))", "!TypeError"),
            ("told((s) => s.addEventListener('abort', () => {}, { signal: {} }))", "!TypeError"),
        ],
    );
}

#[test]
fn a_signal_can_follow_others() {
    rows(
        "const a = new AbortController(), b = new AbortController(); const any = AbortSignal.any([a.signal, b.signal]); const nested = AbortSignal.any([any, any]); const log = [];
         nested.onabort = () => log.push('nested'); any.onabort = () => log.push('any'); a.signal.onabort = () => log.push('a', any.aborted, nested.aborted); a.abort('first'); b.abort('second')",
        &[
            ("log", r#"["a",true,true,"any","nested"]"#),
            ("[any.reason, nested.reason]", r#"["first","first"]"#),
            ("AbortSignal.any([AbortSignal.abort('x'), a.signal]).reason", r#""x""#),
            ("AbortSignal.any([]).aborted", "false"),
            ("AbortSignal.any(new Set([AbortSignal.abort(1)])).reason", "1"),
            ("AbortSignal.any([{}])", "!TypeError"),
            ("AbortSignal.any()", "!TypeError"),
            ("AbortSignal.any(5)", "!TypeError"),
        ],
    );
}

#[test]
fn a_timeout_aborts_without_the_grant_of_timers() {
    let names = ["AbortSignal", "fetch"];
    let value = |source: &str| run_in(granted(source, &names), &world()).given;
    let is = |text: &str| Given::Value(text.to_owned());
    assert_eq!(
        value(
            "const s = AbortSignal.timeout(5000); return await new Promise(done => s.addEventListener('abort', () => done([s.aborted, s.reason.name, s.reason.code, typeof setTimeout])))"
        ),
        is(r#"[true,"TimeoutError",23,"undefined"]"#)
    );
    assert_eq!(
        value(
            "try { await fetch('https://e.test/never', { signal: AbortSignal.timeout(100) }) } catch (e) { return [e.name, e.message] }"
        ),
        is(r#"["TimeoutError","The operation was aborted due to timeout"]"#)
    );
    assert_eq!(
        value(
            "const s = AbortSignal.any([AbortSignal.timeout(50), AbortSignal.timeout(1e9)]); return await new Promise(done => { s.onabort = () => done(s.reason.name) })"
        ),
        is(r#""TimeoutError""#)
    );
    assert_eq!(value("AbortSignal.timeout(1e9); return 1"), is("1"));
    assert_eq!(
        value(
            "const r = await fetch('https://e.test/json', { signal: AbortSignal.timeout(1e6) }); return r.status"
        ),
        is("200")
    );
}

#[test]
fn a_timeout_that_nobody_waits_for_keeps_nothing_going() {
    for source in [
        "AbortSignal.timeout(10); await new Promise(() => {})",
        "AbortSignal.any([AbortSignal.timeout(10)]); await new Promise(() => {})",
        "const s = AbortSignal.timeout(10); const f = () => {}; s.addEventListener('abort', f); s.removeEventListener('abort', f); await new Promise(() => {})",
        "await fetch('https://e.test/json', { signal: AbortSignal.timeout(1e6) }); await new Promise(() => {})",
        "const c = new AbortController(); c.signal.addEventListener('abort', () => {}); await new Promise(() => {})",
        "c = new AbortController(); const p = fetch('https://e.test/never', { signal: c.signal }); p.catch(() => {}); c.abort(); await new Promise(() => {})",
    ] {
        let report =
            run_in(job(Entry::Body, &format!("let c; {}", source.replace("const c =", "c ="))), &world());
        let Given::Trouble(told) = report.given else { panic!("{source}: {report:?}") };
        assert_eq!(told.kind, TroubleKind::Deadlock, "{source}: {told:?}");
    }
    // A script ends when nothing is left to do, and such a timer is nothing.
    let world = world();
    let report = run_in(job(Entry::Script, "AbortSignal.timeout(1e6); 1"), &world);
    assert_eq!(report.given, Given::Value("null".to_owned()));
    assert!(world.waited.get().as_secs() < 100);
}

#[test]
fn a_guest_cannot_clear_the_timer_of_a_signal() {
    gives(
        "const s = AbortSignal.timeout(20); for (let i = -5; i < 50; i++) { clearTimeout(i); clearInterval(String(i)) }
         return await new Promise(done => { s.onabort = () => done(s.aborted) })",
        "true",
    );
    rows(
        "",
        &[
            ("AbortSignal.timeout()", "!TypeError"),
            ("AbortSignal.timeout(-1)", "!TypeError"),
            ("AbortSignal.timeout(NaN)", "!TypeError"),
            ("AbortSignal.timeout(Infinity)", "!TypeError"),
            ("AbortSignal.timeout('5').aborted", "false"),
            ("AbortSignal.timeout(0).aborted", "false"),
        ],
    );
}

#[test]
fn an_error_in_a_listener_ends_the_call_and_nothing_else() {
    let source = "const c = new AbortController(); globalThis.log = []; c.signal.onabort = () => { throw new Error('mine') }; c.signal.addEventListener('abort', () => log.push('second')); c.abort(); if (log[0] !== 'second') throw new Error('not told'); await 0; await 0; return 1";
    let told = trouble(source);
    assert_eq!((told.kind, told.message.as_str()), (TroubleKind::Threw, "Error: mine"));
    let told = trouble(
        "const c = new AbortController(); c.signal.addEventListener('abort', {}); c.abort(); await new Promise(() => {})",
    );
    assert_eq!(told.message, "TypeError: The listener has no function handleEvent.");
}

#[test]
fn an_abort_gives_a_fetch_up() {
    let asked = |source: &str| {
        let world = world();
        let given = run_in(job(Entry::Body, source), &world).given;
        (given, world.asked.borrow().len(), world.cancelled.borrow().clone())
    };
    let is = |text: &str| Given::Value(text.to_owned());
    // Before: nothing is asked.
    assert_eq!(
        asked(
            "try { await fetch('https://e.test/json', { signal: AbortSignal.abort('no') }) } catch (e) { return e }"
        ),
        (is(r#""no""#), 0, vec![])
    );
    // During, before the answer came: it is ignored.
    assert_eq!(
        asked(
            "const c = new AbortController(); const p = fetch('https://e.test/json', { signal: c.signal }); c.abort(); try { await p } catch (e) { await 0; return e.name }"
        ),
        (is(r#""AbortError""#), 1, vec![1])
    );
    assert_eq!(
        asked(
            "const c = new AbortController(); const p = fetch('https://e.test/never', { signal: c.signal }); setTimeout(() => c.abort(7), 10); try { await p } catch (e) { return e }"
        ),
        (is("7"), 1, vec![1])
    );
    // After: it changes nothing.
    assert_eq!(
        asked(
            "const c = new AbortController(); const r = await fetch('https://e.test/json', { signal: c.signal }); c.abort(); return (await r.json()).a"
        ),
        (is("[1,2]"), 1, vec![])
    );
    // Through a request, one of many, and with a signal in place of the request's.
    assert_eq!(
        asked(
            "const c = new AbortController(); const r = new Request('https://e.test/never', { signal: c.signal }); const p = fetch(r); c.abort('x'); try { await p } catch (e) { return [e, r.signal.aborted, r.signal === c.signal] }"
        ),
        (is(r#"["x",true,false]"#), 1, vec![1])
    );
    assert_eq!(
        asked(
            "const r = new Request('https://e.test/json', { signal: AbortSignal.abort() }); return (await fetch(r, { signal: null })).status"
        ),
        (is("200"), 1, vec![])
    );
    assert_eq!(
        asked(
            "const c = new AbortController(); const all = []; for (let i = 0; i < 3; i++) all.push(fetch('https://e.test/never', { signal: c.signal })); c.abort('all'); return (await Promise.allSettled(all)).map(x => x.reason)"
        ),
        (is(r#"["all","all","all"]"#), 3, vec![1, 2, 3])
    );
}
