//! `Headers`, by the standard.

use super::rows;

#[test]
fn headers_are_made_of_records_sequences_and_headers() {
    rows(
        "const all = h => [...h].map(p => p.join('=')).join()",
        &[
            ("all(new Headers())", r#""""#),
            ("all(new Headers(undefined))", r#""""#),
            ("all(new Headers({ B: 'x', a: 1 }))", r#""a=1,b=x""#),
            ("all(new Headers({ a: '1', A: '2' }))", r#""a=1, 2""#),
            ("all(new Headers([['b', 'x'], ['a', 'y'], ['B', 'z']]))", r#""a=y,b=x, z""#),
            ("all(new Headers(new Map([['q', 'r']])))", r#""q=r""#),
            ("all(new Headers(new Headers({ a: '1' })))", r#""a=1""#),
            (
                "all(new Headers(function* () { yield ['a', '1']; yield new Set(['b', '2']) }()))",
                r#""a=1,b=2""#,
            ),
            ("new Headers(null)", "!TypeError"),
            ("new Headers('a')", "!TypeError"),
            ("new Headers(5)", "!TypeError"),
            ("new Headers([['a']])", "!TypeError"),
            ("new Headers([['a', 'b', 'c']])", "!TypeError"),
            ("new Headers(['ab'])", "!TypeError"),
            ("new Headers([5])", "!TypeError"),
            ("new Headers({ [Symbol.iterator]: 5 })", "!TypeError"),
            ("new Headers({ [Symbol('s')]: 'x' })", "!TypeError"),
            ("all(new Headers({ a: null, b: undefined }))", r#""a=null,b=undefined""#),
            ("Headers()", "!TypeError"),
        ],
    );
}

#[test]
fn names_are_tokens_and_values_are_bytes() {
    rows(
        "const h = new Headers()",
        &[
            ("h.append('', 'x')", "!TypeError: '' is not a valid header name"),
            ("h.append('a b', 'x')", "!TypeError"),
            ("h.append('a:', 'x')", "!TypeError"),
            ("h.append('é', 'x')", "!TypeError"),
            ("h.append('€', 'x')", "!TypeError: The header name holds a character that is no byte"),
            (
                "h.append('a', '€')",
                "!TypeError: The header value holds a character that is no byte, at index 0",
            ),
            ("h.append('a', 'x\\ny')", "!TypeError: The value of the header 'a' holds a line break"),
            ("h.append('a', 'x\\0')", "!TypeError"),
            ("h.append('a', 'x\\ry')", "!TypeError"),
            ("h.set('a', 'x\\r\\nb: c')", "!TypeError"),
            ("h.append('a')", "!TypeError: Headers.append: 2 arguments required"),
            ("h.get()", "!TypeError"),
            ("h.get('b c')", "!TypeError"),
            ("h.has('')", "!TypeError"),
            ("h.delete('\\n')", "!TypeError"),
            ("h.append('a', Symbol())", "!TypeError"),
            ("(h.set('A', ' \\t\\r\\n x y \\n'), h.get('a'))", r#""x y""#),
            ("(h.set('a', 'é'), h.get('a'))", r#""é""#),
            ("(h.set('a', ''), [h.get('a'), h.has('a')])", r#"["",true]"#),
            ("(h.set('!#$%&\\'*+-.^_`|~09azAZ', 'x'), h.get('!#$%&\\'*+-.^_`|~09azaz'))", r#""x""#),
        ],
    );
}

#[test]
fn values_of_one_name_are_together_and_cookies_apart() {
    rows(
        "const h = new Headers(); h.append('b', '1'); h.append('Set-Cookie', 'x=1'); h.append('B', '2'); h.append('a', 'z'); h.append('set-cookie', 'y=2, z')",
        &[
            ("h.get('b')", r#""1, 2""#),
            ("h.get('none')", "null"),
            ("h.get('set-cookie')", r#""x=1, y=2, z""#),
            ("h.getSetCookie()", r#"["x=1","y=2, z"]"#),
            ("new Headers().getSetCookie()", "[]"),
            ("[...h]", r#"[["a","z"],["b","1, 2"],["set-cookie","x=1"],["set-cookie","y=2, z"]]"#),
            ("[...h.keys()]", r#"["a","b","set-cookie","set-cookie"]"#),
            ("[...h.values()]", r#"["z","1, 2","x=1","y=2, z"]"#),
        ],
    );
    rows(
        "const h = new Headers({ c: '3', a: '1', b: '2' }); const seen = []; h.forEach(function (v, k, o) { seen.push(k + v + this.t + (o === h)) }, { t: '!' });
         const walked = []; for (const [k] of h) { walked.push(k); if (k === 'a') h.delete('b'); if (k === 'c') h.append('d', '4') }
         h.set('c', 'x'); h.append('c', 'y'); h.set('C', 'z')",
        &[
            ("seen", r#"["a1!true","b2!true","c3!true"]"#),
            ("walked", r#"["a","c","d"]"#),
            ("[...h]", r#"[["a","1"],["c","z"],["d","4"]]"#),
            ("Headers.prototype[Symbol.iterator] === Headers.prototype.entries", "true"),
            ("Object.prototype.toString.call(h)", r#""[object Headers]""#),
            ("Object.prototype.toString.call(h.keys())", r#""[object Headers Iterator]""#),
            ("Headers.prototype.get.call({}, 'a')", "!TypeError"),
            ("Headers.prototype.entries.call({})", "!TypeError"),
            ("h.forEach(5)", "!TypeError"),
            ("h.keys().next.call({})", "!TypeError"),
            ("Object.keys(Headers.prototype).join()", r#""append,delete,get,getSetCookie,has,set,entries,keys,values,forEach""#),
            ("[Headers.length, Headers.name, h.append.length]", r#"[0,"Headers",2]"#),
        ],
    );
}

#[test]
fn the_headers_of_what_was_fetched_cannot_be_changed() {
    rows(
        "const r = await fetch('https://e.test/cookies'); const h = r.headers",
        &[
            ("[...h]", r#"[["a","y"],["b","x"],["set-cookie","a=1"],["set-cookie","c=2, d"]]"#),
            ("h.set('a', 'b')", "!TypeError: These headers are immutable"),
            ("h.append('a', 'b')", "!TypeError: These headers are immutable"),
            ("h.delete('a')", "!TypeError: These headers are immutable"),
            ("r.clone().headers.set('a', 'b')", "!TypeError: These headers are immutable"),
            ("h.append('a b', 'b')", "!TypeError: 'a b' is not"),
            ("(new Response('', { headers: h })).headers.set('a', 'b')", "undefined"),
            ("(new Headers(h)).delete('a')", "undefined"),
            ("Response.error().headers.set('a', 'b')", "!TypeError"),
            ("Response.redirect('https://e.test/').headers.set('a', 'b')", "!TypeError"),
        ],
    );
}
