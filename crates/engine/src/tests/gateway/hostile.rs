//! A guest that lays traps on every prototype: what it is given stays right, and what is ours stays hidden.

use bailiwick_types::Effect;
use bailiwick_wire::{Entry, Given};

use super::world;
use crate::tests::{job, run_in};

/// Traps that are set before the code runs; `caught` gets what falls into one.
const TRAPS: &[&str] = &[
    "Promise.prototype.then = function () { caught.push('then') }",
    "Promise.resolve = Promise.reject = () => { caught.push('resolve') }; globalThis.Promise = function () { caught.push('Promise') }",
    "Array.prototype[Symbol.iterator] = function () { caught.push('iterator'); return { next: () => ({ done: true }) } }",
    "for (const k of ['body', 'headers', 'get', 'set', 'url', 'method', 'status', 'signal', 'bytes', 'json', 'text', 'value', 'done', 'length', '0', '1', '2']) Object.defineProperty(Object.prototype, k, { __proto__: null, configurable: true, get() { return undefined }, set(v) { caught.push(k) } })",
    "for (const k of [0, 1, 2, 3]) Object.defineProperty(Array.prototype, k, { __proto__: null, configurable: true, set(v) { caught.push(k) } })",
    "for (const k of Reflect.ownKeys(Map.prototype)) if (typeof k === 'string' && k !== 'size') Map.prototype[k] = () => { caught.push('Map.' + k) }",
    "for (const k of Reflect.ownKeys(Set.prototype)) if (typeof k === 'string' && k !== 'size') Set.prototype[k] = () => { caught.push('Set.' + k) }",
    "for (const k of ['get', 'set', 'has', 'delete']) WeakMap.prototype[k] = () => { caught.push('WeakMap.' + k) }",
    "for (const k of ['slice', 'indexOf', 'charCodeAt', 'toLowerCase', 'toUpperCase', 'toWellFormed', 'trim', 'split', 'startsWith']) String.prototype[k] = () => { caught.push('String.' + k); return 'x' }",
    "for (const k of ['sort', 'push', 'join', 'map', 'forEach', 'slice', 'concat']) Array.prototype[k] = () => { caught.push('Array.' + k) }",
    "JSON.parse = JSON.stringify = () => { caught.push('JSON') }; globalThis.JSON = undefined",
    "Reflect.apply = Reflect.construct = Reflect.ownKeys = Object.defineProperty = Object.setPrototypeOf = () => { caught.push('Reflect') }; globalThis.Reflect = globalThis.Object = undefined",
    "const made = Object.getPrototypeOf(() => {}); made.call = made.apply = made.bind = () => { caught.push('call') }",
    "ArrayBuffer.prototype.slice = () => { caught.push('slice') }; ArrayBuffer[Symbol.species]; globalThis.ArrayBuffer = globalThis.Uint8Array = globalThis.DataView = undefined",
    "Uint8Array.prototype.set = Object.getPrototypeOf(Uint8Array.prototype).set = () => { caught.push('set') }",
    "globalThis.TypeError = globalThis.Error = globalThis.RangeError = globalThis.SyntaxError = function () { caught.push('Error') }",
    "globalThis.queueMicrotask = globalThis.setTimeout = () => { caught.push('queue') }",
    "globalThis.Headers = globalThis.Request = globalThis.Response = globalThis.FormData = globalThis.URL = globalThis.URLSearchParams = globalThis.TextEncoder = globalThis.TextDecoder = undefined",
    "Object.defineProperty(Object.prototype, 'refused', { value: true })",
    "Number.isSafeInteger = Math.floor = Math.min = Math.max = () => { caught.push('Number') }; globalThis.Number = globalThis.Math = undefined",
    "Array.isArray = () => { caught.push('isArray'); return false }",
    "delete Array.prototype[Symbol.iterator]",
];

/// What is done among them. Nothing in it uses what a trap is on.
const CODE: &str = "
    const form = new F(); form.append('a', 'b'); form.append('c', bytes, 'n');
    const headers = new H({ b: '2', A: '1' }); headers.append('B', '3'); headers.set('d', '4'); headers.delete('d');
    const controller = new C(); let told = 0; controller.signal.addEventListener('abort', () => { told++ });
    const request = new Q('https://e.test/echo', { method: 'POST', body: 'x', headers, signal: controller.signal });
    const posted = await fetch(request);
    const one = await posted.text();
    const two = await (await fetch('https://e.test/json')).json();
    const three = await new S(form).text();
    let why; try { await fetch('https://e.test/refuse') } catch (e) { why = e.reason }
    const given = fetch('https://e.test/never', { signal: controller.signal }); controller.abort('stop');
    let stop; try { await given } catch (e) { stop = e }
    const four = fs.readText('a'); const five = fs.cut('a', { fields: [1, 2] }); const six = fs.readBytes('a');
    return `${one} ${two.a[1]} ${three.length} ${why} ${stop} ${told} ${four} ${five} ${six[2]} ${headers.get('b')} ${caught.length === 0 ? 'clean' : caught[0]}`";

const RIGHT: &str = "POST https://e.test/echo [b=2|a=1|b=3|content-type=text/plain;charset=UTF-8] Some(\\\"x\\\") Follow None 0 2 309 host-not-allowed stop 1 text of a Cut { path: \\\"a\\\", delimiter: \\\"\\\\t\\\", fields: [1, 2] } 3 2, 3 clean";

#[test]
fn traps_catch_nothing_of_ours() {
    for trap in [""].iter().chain(TRAPS) {
        let source = format!(
            "const caught = []; {{ const defined = Object.defineProperty, plain = []; let at = 0; defined(caught, 'push', {{ value: v => {{ defined(caught, at++, {{ __proto__: null, value: v }}) }} }}) }}
             const F = FormData, H = Headers, C = AbortController, Q = Request, S = Response, fs = safety.fs, bytes = new Uint8Array([104]);
             {trap};{CODE}"
        );
        let report = run_in(job(Entry::Body, &source), &world());
        assert_eq!(report.given, Given::Value(format!("\"{RIGHT}\"")), "{trap}");
    }
}

#[test]
fn options_are_read_once_and_may_fight_back() {
    for (source, expected) in [
        (
            "const reads = []; await fetch('https://e.test/echo', new Proxy({}, { get(t, k) { reads.push(k) } })); return reads",
            r#"["body","cache","headers","integrity","maxBytes","method","mode","offset","redirect","signal"]"#,
        ),
        (
            "try { await fetch('https://e.test/echo', { get method() { throw 'mine' } }) } catch (e) { return e }",
            r#""mine""#,
        ),
        (
            "const init = { method: 'POST', get headers() { init.method = 'PUT'; init.signal = AbortSignal.abort(); return {} } }; try { await fetch('https://e.test/echo', init) } catch (e) { return e.name }",
            r#""AbortError""#,
        ),
        (
            "const b = new Uint8Array([65, 66]); const r = await fetch('https://e.test/echo', { method: 'POST', body: b, get headers() { b[0] = 90; b.buffer.transfer(); return {} } }); return (await r.text()).includes('AB')",
            "true",
        ),
        (
            "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); try { await fetch('https://e.test/echo', proxy) } catch (e) { return e.name }",
            r#""TypeError""#,
        ),
        (
            "const h = { get a() { delete this.b; return '1' }, b: '2' }; return [...new Headers(h)]",
            r#"[["a","1"]]"#,
        ),
        (
            // By Web IDL, what is detached has no bytes.
            "const b = new ArrayBuffer(8); b.transfer(); return await new Response(b).text()",
            r#""""#,
        ),
        (
            "Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { delete Object.prototype.then; throw 'trap' } }); try { await fetch('https://e.test/json'); return 'none' } catch (e) { return e }",
            r#""trap""#,
        ),
        (
            "class Mine extends Response { constructor() { super('mine'); this.own = 1 } } const m = new Mine(); return [m instanceof Response, m.own, await m.text()]",
            r#"[true,1,"mine"]"#,
        ),
        (
            "const r = Reflect.construct(Response, ['x'], class extends Response {}); return await r.text()",
            r#""x""#,
        ),
        (
            "try { structuredClone(new Headers()); return 'cloned' } catch (e) { return 'refused' }",
            r#""refused""#,
        ),
    ] {
        let report = run_in(job(Entry::Body, source), &world());
        assert_eq!(report.given, Given::Value(expected.to_owned()), "{source}");
    }
}

#[test]
fn nothing_of_ours_is_reachable() {
    let source = "
        const seen = new Set(); const bad = [];
        const walk = (value, path) => {
          if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || path.length > 120) return;
          seen.add(value);
          for (const key of Reflect.ownKeys(value)) {
            if (['effects', 'timers', 'startFetch', 'native', 'deliver', 'refusal'].includes(key)) bad.push(path + '.' + String(key));
            const d = Reflect.getOwnPropertyDescriptor(value, key);
            for (const part of [d.value, d.get, d.set]) walk(part, path + '.' + String(key));
          }
          walk(Reflect.getPrototypeOf(value), path + '.__proto__');
        };
        walk(globalThis, ''); walk(await fetch('https://e.test/json'), 'r'); walk(new AbortController().signal, 's'); walk(new Headers().keys(), 'k');
        return bad";
    assert_eq!(run_in(job(Entry::Body, source), &world()).given, Given::Value("[]".to_owned()));
}

#[test]
fn what_is_asked_is_what_was_written_whatever_was_patched() {
    let world = world();
    let source = "Headers.prototype[Symbol.iterator] = function* () { yield ['evil', '1'] }; Headers.prototype.get = () => 'evil'; URL.prototype.toString = () => 'https://evil.test/'; Object.defineProperty(URL.prototype, 'href', { get: () => 'https://evil.test/' }); URLSearchParams.prototype.toString = () => 'evil'; FormData.prototype.entries = () => [];
        await fetch(new URL('https://e.test/echo'), { method: 'POST', headers: new Headers({ good: '1' }), body: new URLSearchParams({ a: '1' }) }); return 0";
    assert_eq!(run_in(job(Entry::Body, source), &world).given, Given::Value("0".to_owned()));
    let asked = world.asked.borrow();
    let Some((_, Effect::Fetch(request))) = asked.first() else { panic!("{asked:?}") };
    assert_eq!(
        super::echo(request),
        "POST https://e.test/echo [good=1|content-type=application/x-www-form-urlencoded;charset=UTF-8] Some(\"a=1\") Follow None 0"
    );
}
