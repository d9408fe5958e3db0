//! `Response` and `Request`: how they are made, and how their bodies are read.

use bailiwick_wire::{Entry, Given};

use super::{rows, world};
use crate::tests::{job, run_in};

#[test]
fn a_body_is_read_once() {
    rows(
        "const get = path => fetch('https://e.test' + path); const used = await get('/json'); await used.text(); const bare = await get('/204'); await bare.text()",
        &[
            ("(await get('/json')).json()", r#"{"a":[1,2],"__proto__":3}"#),
            ("(await get('/bom')).text()", r#""mark""#),
            ("(await get('/broken')).text()", r#""a�b""#),
            ("[...await (await get('/broken')).bytes()]", "[97,255,98]"),
            ("(await (await get('/json')).arrayBuffer()).byteLength", "25"),
            ("(await get('/json')).bodyUsed", "false"),
            ("used.bodyUsed", "true"),
            ("used.text()", "!TypeError: The body was read already"),
            ("used.json()", "!TypeError"),
            ("used.arrayBuffer()", "!TypeError"),
            ("used.bytes()", "!TypeError"),
            ("used.clone()", "!TypeError"),
            ("bare.bodyUsed", "false"),
            ("bare.text()", r#""""#),
            ("(await bare.arrayBuffer()).byteLength", "0"),
            ("(await get('/empty')).json()", "!SyntaxError"),
            ("new Response('{').json()", "!SyntaxError"),
            ("new Response('{').json().then(x => 1, e => e.constructor === SyntaxError)", "true"),
            ("Response.prototype.text.call({})", "!TypeError: This is no Response"),
            ("'body' in used", "false"),
            ("typeof used.blob", r#""undefined""#),
        ],
    );
    rows(
        "const first = new Response('abc'); const second = first.clone(); const bytes = await first.bytes(); bytes[0] = 120;
         const kept = new Uint8Array([1, 2]); const third = new Response(kept); kept[0] = 9",
        &[
            ("second.text()", r#""abc""#),
            ("[...await third.bytes()]", "[1,2]"),
            ("first.bodyUsed", "true"),
            ("new Response('x').text() instanceof Promise", "true"),
        ],
    );
}

#[test]
fn what_was_fetched_is_described() {
    rows(
        "const r = await fetch('https://e.test/moved?x'); const lost = await fetch('https://e.test/404'); const part = await fetch('https://e.test/json', { offset: 3, maxBytes: 9 })",
        &[
            (
                "[r.status, r.ok, r.statusText, r.url, r.redirected, r.type]",
                r#"[200,true,"OK","https://e.test/moved?x",true,"basic"]"#,
            ),
            ("[lost.status, lost.ok, lost.statusText, lost.redirected]", r#"[404,false,"Not Found",false]"#),
            ("r.headers.get('X-A')", r#""1, 2""#),
            ("part.whole", "28"),
            (
                "[r.clone().url, r.clone().type, r.clone().whole === r.whole]",
                r#"["https://e.test/moved?x","basic",true]"#,
            ),
            ("r instanceof Response", "true"),
            ("Object.prototype.toString.call(r)", r#""[object Response]""#),
            ("Reflect.set(r, 'status', 5)", "false"),
            ("Object.keys(r)", "[]"),
        ],
    );
}

#[test]
fn responses_are_made_by_the_standard() {
    rows(
        "const type = (b, i) => new Response(b, i).headers.get('content-type')",
        &[
            (
                "[new Response().status, new Response().type, new Response().url, new Response().whole]",
                r#"[200,"default","",null]"#,
            ),
            ("type('x')", r#""text/plain;charset=UTF-8""#),
            ("type(new URLSearchParams('a=1'))", r#""application/x-www-form-urlencoded;charset=UTF-8""#),
            ("type(new ArrayBuffer(1))", "null"),
            ("type(null)", "null"),
            ("type(undefined)", "null"),
            ("type('x', { headers: { 'Content-Type': 'a/b' } })", r#""a/b""#),
            ("new Response(5).text()", r#""5""#),
            ("new Response({}).text()", r#""[object Object]""#),
            ("new Response('\\ud800').text()", r#""�""#),
            ("new Response(new DataView(new Uint8Array([65, 66, 67]).buffer, 1, 1)).text()", r#""B""#),
            ("new Response(new Uint16Array([0x4241])).text()", r#""AB""#),
            ("new Response(new URLSearchParams({ a: 'x y', b: '&' })).text()", r#""a=x+y&b=%26""#),
            (
                "new Response('x', { status: 204 })",
                "!TypeError: A response with the status 204 cannot have a body",
            ),
            ("new Response(null, { status: 204 }).status", "204"),
            ("new Response('x', { status: 199 })", "!RangeError"),
            ("new Response('x', { status: 600 })", "!RangeError"),
            ("new Response('x', { status: 'a' })", "!RangeError"),
            ("new Response('x', { status: 65536 + 201 }).status", "201"),
            ("new Response('x', { statusText: 'a\\nb' })", "!TypeError"),
            ("new Response('x', { statusText: '€' })", "!TypeError"),
            ("new Response('x', { status: 404, statusText: 'No' }).statusText", r#""No""#),
            ("new Response('x', 5)", "!TypeError"),
            ("new Response('x', null).status", "200"),
            ("new Response(Symbol())", "!TypeError"),
            ("Response('x')", "!TypeError"),
            ("[Response.error().type, Response.error().status, Response.error().ok]", r#"["error",0,false]"#),
            ("Response.json({ a: [1] }).json()", r#"{"a":[1]}"#),
            ("Response.json(1, { status: 201 }).headers.get('content-type')", r#""application/json""#),
            ("Response.json(undefined)", "!TypeError"),
            ("Response.json()", "!TypeError"),
            ("Response.json(1n)", "!TypeError"),
            (
                "[Response.redirect('https://e.test/a b').status, Response.redirect('https://e.test/a b', 307).headers.get('location')]",
                r#"[302,"https://e.test/a%20b"]"#,
            ),
            ("Response.redirect('/x')", "!TypeError"),
            ("Response.redirect('https://e.test/', 200)", "!RangeError"),
            ("new Response(null).text()", r#""""#),
            ("new Response('x').clone().text()", r#""x""#),
        ],
    );
}

#[test]
fn requests_are_made_by_the_standard() {
    rows(
        "const u = 'https://e.test/'; const post = new Request(u, { method: 'post', body: 'b', headers: { a: '1' }, redirect: 'error' })",
        &[
            (
                "[new Request(u).method, new Request(u).url, new Request(u).redirect, new Request(u).signal.aborted]",
                r#"["GET","https://e.test/","follow",false]"#,
            ),
            (
                "[post.method, post.redirect, [...post.headers]]",
                r#"["POST","error",[["a","1"],["content-type","text/plain;charset=UTF-8"]]]"#,
            ),
            ("new Request(post.clone(), { method: 'PUT' }).method", r#""PUT""#),
            ("new Request(post.clone(), { headers: {} }).headers.has('a')", "false"),
            ("new Request(post.clone()).text()", r#""b""#),
            ("(() => { const p = post.clone(); new Request(p); return p.bodyUsed })()", "true"),
            (
                "(() => { const p = post.clone(); new Request(p, { body: 'c' }); return p.bodyUsed })()",
                "false",
            ),
            (
                "(() => { const p = post.clone(); new Request(p); new Request(p) })()",
                "!TypeError: The body was read already",
            ),
            ("new Request(post.clone(), { method: 'GET' })", "!TypeError"),
            ("new Request(u, { body: 'x' })", "!TypeError: A request with the method GET cannot have a body"),
            ("new Request(u, { method: 'HEAD', body: '' })", "!TypeError"),
            ("new Request(u, { body: null }).method", r#""GET""#),
            ("new Request('/x')", "!TypeError: '/x' is no absolute URL"),
            ("new Request('')", "!TypeError"),
            ("new Request()", "!TypeError"),
            ("new Request(new URL('https://e.test/a?b#c')).url", r#""https://e.test/a?b#c""#),
            ("new Request({ toString: () => 'HTTPS://E.test' }).url", r#""https://e.test/""#),
            ("new Request(u, { method: 'a b' })", "!TypeError: 'a b' is not a valid HTTP method"),
            ("new Request(u, { method: 'connect' })", "!TypeError: The method 'connect' is forbidden"),
            ("new Request(u, { method: 'TRACE' })", "!TypeError"),
            ("new Request(u, { method: 'Track' })", "!TypeError"),
            ("new Request(u, { method: 'patch' })", "!TypeError: The method 'patch' is not offered"),
            (
                "new Request(u, { method: 'PROPFIND' })",
                "!TypeError: The method 'PROPFIND' is not offered; GET,",
            ),
            ("new Request(u, { method: '' })", "!TypeError"),
            ("new Request(u, { method: 'GET\\nHEAD' })", "!TypeError"),
            (
                "['get', 'Head', 'OPTIONS', 'delete', 'put', 'PATCH'].map(method => new Request(u, { method }).method)",
                r#"["GET","HEAD","OPTIONS","DELETE","PUT","PATCH"]"#,
            ),
            ("new Request(u, { redirect: 'maybe' })", "!TypeError"),
            ("new Request(u, { signal: {} })", "!TypeError: The option signal must be an AbortSignal"),
            ("new Request(u, { maxBytes: -1 })", "!RangeError: The option maxBytes must be a whole number"),
            ("new Request(u, { maxBytes: 1.5 })", "!RangeError"),
            ("new Request(u, { offset: '1' })", "!RangeError"),
            ("new Request(u, { offset: 2 ** 60 })", "!RangeError"),
            ("new Request(u, 5)", "!TypeError: The options must be an object"),
            (
                "new Request(u, { credentials: 'include', mode: 'cors', cache: 'reload', referrer: {} }).method",
                r#""GET""#,
            ),
            (
                "new Request(u, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }).formData().then(f => f.get('a'))",
                r#""b""#,
            ),
            ("(await post.clone().json().catch(e => e)).name", r#""SyntaxError""#),
            ("Request.prototype.text.call(new Response('x'))", "!TypeError: This is no Request"),
        ],
    );
}

#[test]
fn large_bodies_are_quick_and_counted() {
    let mut body = job(
        Entry::Body,
        "const t = await (await fetch('https://e.test/big')).text(); const b = await (await fetch('https://e.test/big')).bytes(); return [t.length, b.length, b[5e6]]",
    );
    body.limits.memory = 64 << 20;
    assert_eq!(run_in(body, &world()).given, Given::Value("[5242880,5242880,120]".to_owned()));
}

#[test]
fn bodies_that_are_kept_end_in_the_memory_limit() {
    for keep in ["r", "await r.text()", "await r.arrayBuffer()", "r.clone()"] {
        let source = format!(
            "const kept = []; for (;;) {{ const r = await fetch('https://e.test/big'); kept.push({keep}) }}"
        );
        let report = run_in(job(Entry::Body, &source), &world());
        let Given::Trouble(told) = report.given else { panic!("{report:?}") };
        assert_eq!(told.kind, bailiwick_wire::TroubleKind::Memory, "{keep}: {told:?}");
    }
}

#[test]
fn the_console_shows_what_they_are() {
    let world = world();
    let source = "console.log(new Headers({ b: '1', a: 'x' })); console.log(await fetch('https://e.test/cookies')); console.log(new AbortController()); return 0";
    let report = run_in(job(Entry::Body, source), &world);
    assert_eq!(report.given, Given::Value("0".to_owned()));
    let lines = world.lines.borrow();
    let lines: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(lines[0], "Headers { 'a': 'x', 'b': '1' }");
    assert!(lines[1].starts_with("Response {\n  status: 200,"), "{}", lines[1]);
    assert_eq!(lines[2], "AbortController { signal: AbortSignal { aborted: false } }");
}
