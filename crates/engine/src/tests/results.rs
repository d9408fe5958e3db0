//! What becomes of the value that a body returns.

use bailiwick_wire::{Entry, TroubleKind};

use super::{fails, gives, job, trouble, trouble_of};

#[test]
fn json_values_are_themselves() {
    for (source, expected) in [
        ("return 1.5", "1.5"),
        ("return -0", "0"),
        ("return [-0, { a: -0 }]", r#"[0,{"a":0}]"#),
        ("return 1e21", "1e+21"),
        ("return 0.1 + 0.2", "0.30000000000000004"),
        ("return 'a\"\\n\\u2028é😀'", "\"a\\\"\\n\u{2028}é😀\""),
        ("return '\\ud800'", "\"\u{fffd}\""),
        ("return [1, [2], { a: [] }]", r#"[1,[2],{"a":[]}]"#),
        ("return { b: 1, a: { '': null } }", r#"{"b":1,"a":{"":null}}"#),
        ("return null", "null"),
        ("return true", "true"),
        ("return JSON.parse('{\"__proto__\": 1}')", r#"{"__proto__":1}"#),
        (
            "return Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })",
            r#"{"own":2}"#,
        ),
    ] {
        gives(source, expected);
    }
}

#[test]
fn what_json_lacks_has_a_form() {
    for (source, expected) in [
        ("", "null"),
        ("return undefined", "null"),
        ("return [undefined, , 1]", "[null,null,1]"),
        ("return { a: undefined, b: 1 }", r#"{"b":1}"#),
        ("return [NaN, Infinity, -Infinity]", "[null,null,null]"),
        ("return 12345678901234567890n", r#""12345678901234567890""#),
        ("return { big: [1n] }", r#"{"big":["1"]}"#),
        ("return new Date(0)", r#""1970-01-01T00:00:00.000Z""#),
        ("return new Date(NaN)", "null"),
        ("return new Map([['a', 1], [2, new Map([[null, undefined]])]])", r#"{"a":1,"2":{}}"#),
        ("return new Map([[1, 'a'], ['1', 'b']])", r#"{"1":"b"}"#),
        ("return new Map([[Symbol('k'), 1]])", r#"{"Symbol(k)":1}"#),
        ("return new Set([1, 'a', new Set()])", r#"[1,"a",[]]"#),
        ("return new Uint8Array([1, 2, 3])", r#"{"$bytes":"AQID"}"#),
        ("return { b: new Uint8Array([0, 255, 1, 254]).subarray(1, 3) }", r#"{"b":{"$bytes":"/wE="}}"#),
        ("return new Uint8Array([1, 2]).buffer", r#"{"$bytes":"AQI="}"#),
        ("return new DataView(new Uint8Array([9, 8, 7]).buffer, 1)", r#"{"$bytes":"CAc="}"#),
        ("return new Uint16Array([1])", r#"{"$bytes":"AQA="}"#),
        ("return [new Number(1), new String('s'), new Boolean(false), Object(1n)]", r#"[1,"s",false,"1"]"#),
        ("return { toJSON: () => ({ a: 1n }) }", r#"{"a":"1"}"#),
        ("return [{ toJSON: (key) => key }]", r#"["0"]"#),
        ("return { a: { toJSON: () => undefined }, b: 1 }", r#"{"b":1}"#),
        ("return new Error('x')", "{}"),
        ("return new Proxy({ a: 1 }, { get: (t, k) => k === 'toJSON' ? undefined : 2 })", r#"{"a":2}"#),
        ("return new Proxy([1, 2], {})", "[1,2]"),
        ("return Promise.resolve([Promise.resolve(1)])", "[{}]"),
        ("return { then(resolve) { resolve('thenable') } }", r#""thenable""#),
    ] {
        gives(source, expected);
    }
}

#[test]
fn what_has_no_form_is_named_by_its_path() {
    for (source, expected) in [
        ("return () => 1", "result is a function"),
        ("return Symbol('s')", "result is a symbol"),
        ("return { items: [1, 2, 3, { callback() {} }] }", "result.items[3].callback is a function"),
        ("return { 'a-b': [Symbol()] }", "result[\"a-b\"][0] is a symbol"),
        ("return new Map([['k', class A {}]])", "result.k is a function"),
        (
            "const o = { a: {} }; o.a.b = o; return o",
            "result.a.b is a cycle: it leads back to a value that contains it",
        ),
        (
            "const a = []; a.push(a); return { a }",
            "result.a[0] is a cycle: it leads back to a value that contains it",
        ),
        (
            "let a = {}; for (let i = 0; i < 101; i++) a = { a }; return a",
            "result is nested deeper than 100 levels",
        ),
    ] {
        let told = trouble(source);
        assert_eq!((told.kind, told.message.as_str()), (TroubleKind::Threw, expected), "{source}");
    }
    gives("const shared = { x: 1 }; return [shared, shared]", r#"[{"x":1},{"x":1}]"#);
}

#[test]
fn what_a_getter_throws_is_thrown() {
    let told = trouble("return {\n  get a() { throw new TypeError('no') } }");
    assert_eq!((told.kind, told.message.as_str()), (TroubleKind::Threw, "TypeError: no"));
    assert_eq!(told.location.map(|place| place.line), Some(2));
    assert_eq!(told.stack.as_deref(), Some("    at get a (code:2:23)"));
}

#[test]
fn a_result_may_be_as_large_as_its_limit_and_no_larger() {
    let sized = |length: u32| {
        let mut job = job(Entry::Body, &format!("return 'é'.repeat({length})"));
        job.limits.result = 42;
        job
    };
    super::gives_for(sized(20), &format!("\"{}\"", "é".repeat(20)));
    let told = trouble_of(sized(21));
    assert_eq!(
        (told.kind, told.message.as_str()),
        (TroubleKind::Output, "the result is larger than its limit of 42 bytes")
    );
    for source in [
        "return 'x'.repeat(1e6)",
        "return Array(1e5).fill(1)",
        "return { length: 1, ['x'.repeat(1e5)]: 1 }",
        "return new Uint8Array(1e6)",
        "return new Set(Array.from({ length: 1e5 }, (_, i) => i))",
        "return new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : k === 'toJSON' ? undefined : 1 })",
        "return Array(2 ** 32 - 1)",
    ] {
        fails(source, TroubleKind::Output);
    }
}

#[test]
fn a_guest_cannot_change_how_results_are_written() {
    gives(
        "JSON.stringify = () => 'hacked'; Object.keys = () => ['x']; Array.prototype.push = () => {};
         Array.isArray = () => false; Map.prototype.forEach = () => {}; String.prototype.charCodeAt = () => 0;
         Object.defineProperty(Array.prototype, '0', { set() { throw 1 }, get() { return 'trap' } });
         Object.defineProperty(Object.prototype, 'value', { get() { return 'trap' }, configurable: true });
         Uint8Array.prototype.toBase64 = () => 'hacked'; globalThis.Map = null; Object.getPrototypeOf(() => {}).call = null;
         return { m: new (Object.getPrototypeOf(new Set()).constructor)([1]), b: new Uint8Array([1]), a: 'x' }",
        r#"{"m":[1],"b":{"$bytes":"AQ=="},"a":"x"}"#,
    );
}
