//! The web's globals: a row is an expression and what it gives as text; what it throws is told by its name.

use bailiwick_wire::{Entry, Given};

use super::{Fake, gives, gives_for, job, lines, run_in};
use crate::{Breadth, OFFERED, Outside, Warm};

/// Evaluates all rows in one call, each on its own.
#[track_caller]
fn check(before: &str, rows: &[(&str, &str)]) {
    let each: Vec<String> = rows
        .iter()
        .map(|(row, _)| {
            format!(
                "await (async () => {{ try {{ return S(await ({row})) }} catch (e) {{ return e.name }} }})()"
            )
        })
        .collect();
    let source = format!(
        "const S = String; const hex = (b) => Array.from(new Uint8Array(b), (x) => x.toString(16).padStart(2, '0')).join(''); {before}\nconst out = [{}]; return JSON.stringify(out)",
        each.join(",\n")
    );
    let Given::Value(text) = run_in(job(Entry::Body, &source), &Fake::new(7)).given else {
        panic!("{:?}", run_in(job(Entry::Body, &source), &Fake::new(7)).given)
    };
    let body = format!("return JSON.parse({text})");
    let wanted: Vec<String> = rows.iter().map(|(_, wanted)| format!("{wanted:?}")).collect();
    let found = run_in(job(Entry::Body, &body), &Fake::new(7)).given;
    let plain = format!("return [{}]", wanted.join(","));
    assert_eq!(found, run_in(job(Entry::Body, &plain), &Fake::new(7)).given, "{rows:#?}");
}

#[test]
fn urls_are_parsed_as_the_standard_says() {
    check(
        "const h = (u, b) => new URL(u, b).href; const set = (u, k, v) => { const x = new URL(u); x[k] = v; return x.href };",
        &[
            ("h('HTTP://EXAMPLE.com:80/a/../b')", "http://example.com/b"),
            ("h('https://user:pa%20ss@h:8443/p?q#f')", "https://user:pa%20ss@h:8443/p?q#f"),
            ("h('http://0x7f.1/')", "http://127.0.0.1/"),
            ("h('http://2130706433')", "http://127.0.0.1/"),
            ("h('http://017700000001')", "http://127.0.0.1/"),
            ("h('http://256.256.256.256')", "TypeError"),
            ("h('http://[::1]:3000/')", "http://[::1]:3000/"),
            ("h('http://[::ffff:127.0.0.1]/')", "http://[::ffff:7f00:1]/"),
            ("h('http://münchen.de/ü?ü#ü')", "http://xn--mnchen-3ya.de/%C3%BC?%C3%BC#%C3%BC"),
            ("h('http://a b/')", "TypeError"),
            ("h('http://ex%61mple.com')", "http://example.com/"),
            ("h('/x')", "TypeError"),
            ("h('/x?y', 'http://h/a/b')", "http://h/x?y"),
            ("h('../c', 'http://h/a/b/d')", "http://h/a/c"),
            ("h('//o/p', 'https://h')", "https://o/p"),
            ("h('#f', 'mailto:x@y')", "mailto:x@y#f"),
            ("h('p', 'mailto:x@y')", "TypeError"),
            ("h('mailto:A B')", "mailto:A B"),
            ("h('data:text/plain,<x>')", "data:text/plain,<x>"),
            ("h('http:\\\\\\\\h\\\\p')", "http://h/p"),
            ("h('  http://h/\\n')", "http://h/"),
            ("h('ht\\ntp://h')", "http://h/"),
            ("h('file:///C:/x/../..')", "file:///C:/"),
            ("h('http://h/%7e\"<>`{}')", "http://h/%7e%22%3C%3E%60%7B%7D"),
            ("h(\"http://h/?a'b\")", "http://h/?a%27b"),
            ("h(\"x://h/?a'b\")", "x://h/?a'b"),
            ("h('http://')", "TypeError"),
            ("h('http://h:99999')", "TypeError"),
            ("new URL('http://h:21').port", "21"),
            ("new URL('ftp://h:21').port", ""),
            ("new URL('blob:https://a.b/c').origin", "https://a.b"),
            ("new URL('data:x').origin", "null"),
            ("set('http://h/', 'port', '65536')", "http://h/"),
            ("set('http://h/', 'port', '80')", "http://h/"),
            ("set('http://h/', 'port', '81x')", "http://h:81/"),
            ("set('http://h/', 'protocol', 'mailto')", "http://h/"),
            ("set('http://h/', 'protocol', 'https:x')", "https://h/"),
            ("set('http://h:443/', 'protocol', 'https')", "https://h/"),
            ("set('http://h/', 'host', 'o:9')", "http://o:9/"),
            ("set('http://h:1/', 'hostname', 'o')", "http://o:1/"),
            ("set('http://h/', 'hostname', '')", "http://h/"),
            ("set('mailto:x', 'host', 'o')", "mailto:x"),
            ("set('mailto:x', 'pathname', 'y')", "mailto:x"),
            ("set('mailto:x', 'username', 'y')", "mailto:x"),
            ("set('http://h/', 'username', 'a:b@')", "http://a%3Ab%40@h/"),
            ("set('http://h/', 'password', 'p')", "http://:p@h/"),
            ("set('http://h/', 'pathname', 'a?b#c')", "http://h/a%3Fb%23c"),
            ("set('http://h/?x', 'search', '')", "http://h/"),
            ("set('http://h/', 'search', '?a#b')", "http://h/?a%23b"),
            ("set('http://h/#x', 'hash', '#')", "http://h/#"),
            ("set('http://h/#x', 'hash', '')", "http://h/"),
            ("set('http://h/', 'href', 'nope')", "TypeError"),
            ("URL.canParse('x:')", "true"),
            ("URL.canParse('x')", "false"),
            ("URL.parse('x')", "null"),
            ("URL.parse('b', 'http://a')", "http://a/b"),
            ("URL('http://a')", "TypeError"),
            ("new URL()", "TypeError"),
            ("new URL(Symbol())", "TypeError"),
            ("JSON.stringify({ u: new URL('http://a') })", "{\"u\":\"http://a/\"}"),
            ("Object.getOwnPropertyDescriptor(URL.prototype, 'href').get.call({})", "TypeError"),
            ("URL.prototype.toString.call(Object.create(URL.prototype))", "TypeError"),
            ("new Proxy(new URL('http://a'), {}).href", "TypeError"),
            ("Object.prototype.toString.call(new URL('http://a'))", "[object URL]"),
            ("Object.keys(URL.prototype).length", "14"),
            ("[URL.length, URL.name, URL.canParse.length]", "1,URL,1"),
            ("new (class extends URL {})('http://a') instanceof URL", "true"),
            ("h('http://a/\\ud800')", "http://a/%EF%BF%BD"),
        ],
    );
}

#[test]
fn search_params_are_those_of_the_standard() {
    check(
        "const p = (x) => new URLSearchParams(x); const act = (x, f) => { const q = p(x); f(q); return q.toString() };",
        &[
            ("p('?a=1&b=2')", "a=1&b=2"),
            ("p('??a=1')", "%3Fa=1"),
            ("p('a=b+c%20d').get('a')", "b c d"),
            ("p({ a: 'b c', d: '+' })", "a=b+c&d=%2B"),
            ("p([['a', 1], ['a', 2]]).getAll('a').length", "2"),
            ("p(new Map([['x', 'y']]))", "x=y"),
            ("p(p('q=1'))", "q=1"),
            ("p([['a']])", "TypeError"),
            ("p([1])", "TypeError"),
            ("p({ [Symbol()]: 1 })", "TypeError"),
            ("p(null)", "null="),
            ("p(undefined)", ""),
            ("p('&&=&a')", "=&a="),
            ("p('%zz=%e4%f6').get('%zz')", "\u{fffd}\u{fffd}"),
            ("p('a=%EF%BB%BFx').get('a').length", "2"),
            ("act('a=1&a=2&b=3', (q) => q.delete('a', '1'))", "a=2&b=3"),
            ("act('a=1&a=2&b=3', (q) => q.delete('a'))", "b=3"),
            ("act('a=1&b=2&a=3', (q) => q.set('a', 4))", "a=4&b=2"),
            ("act('b=1&a=2&b=0&a=1', (q) => q.sort())", "a=2&a=1&b=1&b=0"),
            ("act('\u{ffff}=1&\u{1f600}=2', (q) => q.sort())", "%F0%9F%98%80=2&%EF%BF%BF=1"),
            ("p('a=1').has('a', '2')", "false"),
            ("p('a=1').has('a', undefined)", "true"),
            ("p('a').get('b')", "null"),
            ("p('a&b&c').size", "3"),
            ("[...p('a=1&b=2')].join('|')", "a,1|b,2"),
            ("[...p('a=1&b=2').keys()].join()", "a,b"),
            ("p()[Symbol.iterator] === p().entries", "true"),
            ("Object.prototype.toString.call(p().entries())", "[object URLSearchParams Iterator]"),
            (
                "(() => { const o = []; p('a=1').forEach(function (v, k) { o.push(v, k, this.z) }, { z: 5 }); return o })()",
                "1,a,5",
            ),
            ("p().append('x')", "TypeError"),
            ("p().forEach(1)", "TypeError"),
            ("URLSearchParams.prototype.get.call(new Map(), 'a')", "TypeError"),
            ("p('a=~*-._ \\'()')", "a=%7E*-._+%27%28%29"),
            (
                "(() => { const u = new URL('http://h/?a=1'); u.searchParams.append('b', 'ü'); return u.href })()",
                "http://h/?a=1&b=%C3%BC",
            ),
            (
                "(() => { const u = new URL('http://h/?a=1'); const q = u.searchParams; u.search = '?z=9'; return [q === u.searchParams, q] })()",
                "true,z=9",
            ),
            (
                "(() => { const u = new URL('http://h/?a=1'); u.searchParams.delete('a'); return u.href })()",
                "http://h/",
            ),
            (
                "(() => { const u = new URL('http://h/?a=1'); const q = u.searchParams; u.href = 'x:?b'; return q })()",
                "b=",
            ),
        ],
    );
}

#[test]
fn text_becomes_bytes_and_back() {
    check(
        "const E = new TextEncoder(); const b = (...x) => new Uint8Array(x); const d = (bytes, label, o) => new TextDecoder(label, o).decode(bytes);",
        &[
            ("hex(E.encode('aü€😀'))", "61c3bce282acf09f9880"),
            ("hex(E.encode('\\ud800'))", "efbfbd"),
            ("E.encode().length", "0"),
            ("JSON.stringify(E.encodeInto('a€b', b(0, 0, 0)))", "{\"read\":1,\"written\":1}"),
            ("JSON.stringify(E.encodeInto('😀x', new Uint8Array(5)))", "{\"read\":3,\"written\":5}"),
            ("E.encodeInto('a', new Uint16Array(2))", "TypeError"),
            ("TextEncoder()", "TypeError"),
            ("TextEncoder.prototype.encode.call({})", "TypeError"),
            ("d(b(0xef, 0xbb, 0xbf, 0x61)).length", "1"),
            ("d(b(0xef, 0xbb, 0xbf, 0x61), 'utf8', { ignoreBOM: true }).length", "2"),
            ("d(b(0x80))", "\u{fffd}"),
            ("d(b(0x80), 'utf-8', { fatal: true })", "TypeError"),
            ("d(b(0xe4), 'latin1')", "ä"),
            ("d(b(0x80), ' Windows-1252 ')", "€"),
            ("d(b(0x82, 0xa0), 'sjis')", "あ"),
            ("d(b(0x61, 0), 'utf-16le')", "a"),
            ("new TextDecoder('nope')", "RangeError"),
            ("new TextDecoder('replacement')", "RangeError"),
            ("new TextDecoder('ascii').encoding", "windows-1252"),
            (
                "(() => { const t = new TextDecoder(); return t.decode(b(0xe2, 0x82), { stream: true }) + t.decode(b(0xac)) })()",
                "€",
            ),
            (
                "(() => { const t = new TextDecoder(); return t.decode(b(0xe2), { stream: true }) + t.decode() })()",
                "\u{fffd}",
            ),
            (
                "(() => { const t = new TextDecoder('utf-8', { fatal: true }); t.decode(b(0xe2), { stream: true }); return t.decode() })()",
                "TypeError",
            ),
            ("d(null)", "TypeError"),
            ("d('a')", "TypeError"),
            ("d(new DataView(b(97, 98).buffer, 1))", "b"),
            ("(() => { const x = b(97).buffer; x.transfer(); return d(x) === '' })()", "true"),
            ("atob('aGk=')", "hi"),
            ("atob(' aG\\nk ')", "hi"),
            ("atob('aGk')", "hi"),
            ("atob('aGl')", "hi"),
            ("atob('a')", "InvalidCharacterError"),
            ("atob('aGk==')", "InvalidCharacterError"),
            ("atob('a=')", "InvalidCharacterError"),
            ("atob('-_')", "InvalidCharacterError"),
            ("atob('')", ""),
            ("atob('/+8=').charCodeAt(0)", "255"),
            ("btoa('hi')", "aGk="),
            ("btoa('\\xff')", "/w=="),
            ("btoa('€')", "InvalidCharacterError"),
            ("btoa()", "TypeError"),
            (
                "(() => { try { btoa('€') } catch (e) { return [e instanceof Error, e.code, e.constructor.name] } })()",
                "true,5,DOMException",
            ),
            ("typeof DOMException", "undefined"),
        ],
    );
}

#[test]
fn crypto_knows_its_vectors_and_its_rules() {
    check(
        "const s = crypto.subtle; const b = (t) => new TextEncoder().encode(t); const raw = (k, h = 'SHA-256', u = ['sign', 'verify']) => s.importKey('raw', k, { name: 'HMAC', hash: h }, false, u); const sign = async (k, t, h) => hex(await s.sign('HMAC', await raw(k, h), b(t))); const jwk = (o) => s.importKey('jwk', { kty: 'oct', k: 'SmVmZQ', ...o }, { name: 'hmac', hash: 'SHA-256' }, true, ['sign']);",
        &[
            (
                "s.digest('SHA-256', b('abc')).then(hex)",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            ("s.digest({ name: 'sha-384' }, b('abc')).then((x) => hex(x).slice(0, 16))", "cb00753f45a35e8b"),
            ("s.digest('sha-512', b('abc').buffer).then((x) => hex(x).slice(0, 16))", "ddaf35a193617aba"),
            ("s.digest('SHA-1', b(''))", "NotSupportedError"),
            ("s.digest('SHA-256', 'abc')", "TypeError"),
            ("s.digest('SHA-256') instanceof Promise", "true"),
            (
                "sign(new Uint8Array(20).fill(11), 'Hi There')",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                "sign(b('Jefe'), 'what do ya want for nothing?')",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                "sign(b('Jefe'), 'what do ya want for nothing?', 'SHA-384').then((x) => x.slice(0, 16))",
                "af45d2e376484031",
            ),
            (
                "sign(b('Jefe'), 'what do ya want for nothing?', 'SHA-512').then((x) => x.slice(0, 16))",
                "164b7a7bfcf819e2",
            ),
            (
                "jwk().then((k) => s.sign('HMAC', k, b('what do ya want for nothing?'))).then((x) => hex(x).slice(0, 8))",
                "5bdcc146",
            ),
            (
                "raw(b('k')).then(async (k) => s.verify('HMAC', k, await s.sign('HMAC', k, b('x')), b('x')))",
                "true",
            ),
            ("raw(b('k')).then((k) => s.verify('HMAC', k, new Uint8Array(32), b('x')))", "false"),
            (
                "raw(b('k'), 'SHA-256', ['verify']).then((k) => s.sign('HMAC', k, b('x')))",
                "InvalidAccessError",
            ),
            ("raw(b('k'), 'SHA-256', [])", "SyntaxError"),
            ("raw(b('k'), 'SHA-256', ['encrypt'])", "SyntaxError"),
            ("raw(b('k'), 'SHA-256', ['x'])", "TypeError"),
            ("raw(b(''))", "DataError"),
            (
                "s.importKey('spki', b('k'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])",
                "NotSupportedError",
            ),
            ("jwk({ kty: 'RSA' })", "DataError"),
            ("jwk({ k: '!' })", "DataError"),
            ("jwk({ alg: 'HS512' })", "DataError"),
            ("jwk({ ext: false })", "DataError"),
            ("jwk({ key_ops: ['verify'] })", "DataError"),
            ("jwk({ use: 'enc' })", "DataError"),
            (
                "jwk().then((k) => [k.type, k.extractable, k.usages, k.algorithm.hash.name, k.algorithm.length])",
                "secret,true,sign,SHA-256,32",
            ),
            ("jwk().then((k) => new k.constructor())", "TypeError"),
            ("jwk().then((k) => JSON.stringify(k))", "{}"),
            ("s.sign('HMAC', {}, b('x'))", "TypeError"),
            (
                "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
                "true",
            ),
            ("crypto.randomUUID() === crypto.randomUUID()", "false"),
            ("new Set(crypto.getRandomValues(new Uint8Array(999))).size > 200", "true"),
            ("crypto.getRandomValues(new Uint8Array(65537))", "QuotaExceededError"),
            ("crypto.getRandomValues(new Float32Array(1))", "TypeMismatchError"),
            ("crypto.getRandomValues([])", "TypeError"),
            ("Object.prototype.toString.call(crypto.subtle)", "[object SubtleCrypto]"),
        ],
    );
}

#[test]
fn the_clock_is_the_hosts() {
    check(
        "class X extends Date { y() { return 1 } }",
        &[
            ("Date.now()", "1794830400123"),
            ("new Date().getTime()", "1794830400123"),
            ("typeof Date()", "string"),
            ("new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"),
            ("new Date(undefined).getTime()", "NaN"),
            ("[Date.length, Date.name, Date.UTC(1970), Date.parse('1970-01-01')]", "7,Date,0,0"),
            ("new Date().constructor === Date && Date.prototype.constructor === Date", "true"),
            ("[new X() instanceof Date, new X(5).getTime(), new X().y()]", "true,5,1"),
            ("structuredClone(new Date(5)) instanceof Date", "true"),
        ],
    );
}

#[test]
fn a_guest_that_patches_everything_changes_nothing_of_ours() {
    gives(
        "const u = URL, p = URLSearchParams, e = TextEncoder, d = TextDecoder, sub = crypto.subtle;
         let seen = 0; const spy = () => { seen++; };
         for (const i of [0, 1, 2]) Object.defineProperty(Array.prototype, i, { set: spy, configurable: true });
         for (const k of ['name', 'get', 'value', 'stream', 'length', 'hash']) Object.defineProperty(Object.prototype, k, { __proto__: null, get() { return undefined }, set: spy, configurable: true });
         for (const k of ['concat', 'slice', 'indexOf', 'charCodeAt', 'toWellFormed']) String.prototype[k] = spy;
         Array.prototype[Symbol.iterator] = spy; const F = Object.getPrototypeOf(spy); F.call = spy; F.apply = spy; F.bind = spy;
         globalThis.Uint8Array = spy; globalThis.String = spy; globalThis.Error = spy; globalThis.Promise = spy;
         const url = new u('http://h/?a=1&b=2'); url.searchParams.append('c', '3');
         const all = url.searchParams.getAll('a'); const bytes = new e().encode('x');
         const text = new d().decode(bytes); const made = await sub.digest('SHA-256', bytes);
         return url.href + all.length + text + made.byteLength + seen",
        r#""http://h/?a=1&b=2&c=31x320""#,
    );
}

#[test]
fn what_is_not_granted_of_a_dotted_name_is_absent() {
    for breadth in [Breadth::All, Breadth::Ordinary] {
        for (granted, wanted) in [
            (vec![], r#"["undefined"]"#),
            (vec!["crypto.randomUUID"], r#"["object","function",false]"#),
            (vec!["crypto.subtle.sign"], r#"["object","undefined",true,false,"function"]"#),
        ] {
            let mut body = job(
                Entry::Body,
                "if (typeof crypto === 'undefined') return ['undefined']; const out = [typeof crypto, typeof crypto.randomUUID, 'subtle' in crypto]; if (crypto.subtle) out.push('digest' in crypto.subtle, typeof crypto.subtle.sign); return out",
            );
            body.globals = granted.into_iter().map(str::to_owned).collect();
            let world: std::rc::Rc<dyn Outside> = Fake::new(7);
            assert_eq!(Warm::new(breadth).unwrap().run(body, world).given, Given::Value(wanted.to_owned()));
        }
    }
}

#[test]
fn a_part_that_is_loaded_late_is_the_same() {
    let source = "const before = Object.getOwnPropertyNames(globalThis).includes('URL'); const u = new URL('http://h/?a=1'); const found = Object.getOwnPropertyDescriptor(globalThis, 'URL'); globalThis.btoa = 5; return [before, u.searchParams.get('a'), found.value === URL, found.writable, found.enumerable, found.configurable, btoa, atob('aGk='), (await crypto.subtle.digest('SHA-256', new ArrayBuffer(1))).byteLength]";
    let world: std::rc::Rc<dyn Outside> = Fake::new(7);
    let given = Warm::new(Breadth::Ordinary).unwrap().run(job(Entry::Body, source), world).given;
    assert_eq!(given, Given::Value(r#"[true,"1",true,true,false,true,5,"hi",32]"#.to_owned()));
    let mut all = job(Entry::Body, source);
    all.globals = OFFERED.iter().map(|name| (*name).to_owned()).collect();
    gives_for(all, r#"[true,"1",true,true,false,true,5,"hi",32]"#);
}

#[test]
fn a_url_can_be_seen_on_the_console() {
    let shown = lines(
        "console.log(new URLSearchParams('a=1&b=2'), new URLSearchParams()); console.log(new URL('http://h/?a=1'))",
    );
    assert_eq!(shown[0].1, "URLSearchParams { 'a' => '1', 'b' => '2' } URLSearchParams {}");
    assert!(
        shown[1].1.starts_with("URL {\n  href: 'http://h/?a=1',\n  origin: 'http://h',"),
        "{}",
        shown[1].1
    );
}
