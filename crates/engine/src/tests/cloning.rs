//! `structuredClone`.

use super::{gives, trouble};

#[test]
fn a_clone_is_equal_and_apart() {
    for (source, expected) in [
        (
            "return structuredClone({ a: [1, { b: null }], u: undefined, d: 'x' })",
            r#"{"a":[1,{"b":null}],"d":"x"}"#,
        ),
        ("const o = { a: {} }; const c = structuredClone(o); return [c !== o, c.a !== o.a]", "[true,true]"),
        (
            "const o = {}; o.self = o; const c = structuredClone(o); return [c.self === c, c !== o]",
            "[true,true]",
        ),
        ("const s = {}; const c = structuredClone([s, s]); return c[0] === c[1]", "true"),
        ("return structuredClone(new Map([['a', new Map([[1, 2]])]])).get('a').get(1)", "2"),
        ("const c = structuredClone(new Set([1, 'x'])); return [c instanceof Set, c.size]", "[true,2]"),
        ("const c = structuredClone(new Date(5)); return [c instanceof Date, c.getTime()]", "[true,5]"),
        ("const c = structuredClone(/a+/gi); return [c.source, c.flags, c.lastIndex]", r#"["a+","gi",0]"#),
        ("const c = structuredClone([1, , 3]); return [c.length, 1 in c, 2 in c]", "[3,false,true]"),
        ("const c = structuredClone(Object.assign([1], { x: 2 })); return [c[0], c.x]", "[1,2]"),
        (
            "return [structuredClone(1n), structuredClone(undefined) === undefined, structuredClone(null)]",
            r#"["1",true,null]"#,
        ),
        ("const c = structuredClone(new Number(5)); return [typeof c, c + 1]", r#"["object",6]"#),
        ("const c = structuredClone(Object(7n)); return [typeof c, c + 1n]", r#"["object","8"]"#),
        ("const c = structuredClone(new String('ab')); return [typeof c, c.length]", r#"["object",2]"#),
        (
            "const u = new Uint8Array([1, 2, 3]); const c = structuredClone(u); c[0] = 9; return [u[0], [...c], c.constructor.name]",
            r#"[1,[9,2,3],"Uint8Array"]"#,
        ),
        (
            "const b = new ArrayBuffer(4); const c = structuredClone([new Uint8Array(b, 1, 2), new Uint8Array(b)]); return [c[0].buffer === c[1].buffer, c[0].length, c[0].byteOffset]",
            "[true,2,1]",
        ),
        (
            "const c = structuredClone(new DataView(new ArrayBuffer(4), 1, 2)); return [c.byteLength, c.byteOffset]",
            "[2,1]",
        ),
        (
            "const c = structuredClone(new RangeError('m', { cause: { a: 1 } })); return [c instanceof RangeError, c.name, c.message, c.cause.a]",
            r#"[true,"RangeError","m",1]"#,
        ),
        (
            "class P { x = 1; get y() { return 2 } } const c = structuredClone(new P()); return [c.constructor === Object, Object.keys(c)]",
            r#"[true,["x"]]"#,
        ),
        ("return Object.keys(structuredClone({ get a() { return 1 } }))", r#"["a"]"#),
        (
            "const c = structuredClone(JSON.parse('{\"__proto__\": {\"x\": 1}}')); return [c.x, Object.keys(c)]",
            r#"[null,["__proto__"]]"#,
        ),
        (
            "const b = new ArrayBuffer(8); const c = structuredClone({ b, v: new Uint8Array(b, 2) }, { transfer: [b] }); return [b.byteLength, b.detached, c.b.byteLength, c.v.length]",
            "[0,true,8,6]",
        ),
        (
            "const b = new ArrayBuffer(8); try { structuredClone(() => 1, { transfer: [b] }) } catch {} return b.byteLength",
            "8",
        ),
    ] {
        gives(source, expected);
    }
}

#[test]
fn what_cannot_be_cloned_is_refused() {
    for source in [
        "structuredClone(() => 1)",
        "structuredClone({ a: Symbol('s') })",
        "structuredClone(new WeakMap())",
        "structuredClone(Promise.resolve())",
        "structuredClone(new Proxy({}, {}))",
        "structuredClone(1, { transfer: [{}] })",
        "const b = new ArrayBuffer(1); structuredClone(b, { transfer: [b, b] })",
        "const b = new ArrayBuffer(1); b.transfer(); structuredClone(b)",
    ] {
        let told = trouble(source);
        assert!(
            told.message.starts_with("DataCloneError: ") && told.message.ends_with("could not be cloned."),
            "{source}: {told:?}"
        );
    }
    assert_eq!(trouble("structuredClone()").message, "TypeError: The \"value\" argument must be specified");
}
