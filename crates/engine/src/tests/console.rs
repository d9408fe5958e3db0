//! Console lines, compared with what node prints for the same arguments.

use bailiwick_types::LogLevel;
use bailiwick_wire::{Entry, Given};

use super::{Fake, gives, job, lines, run_in, trouble};

/// The arguments of `console.log`, and what node 20 prints.
const LINES: &[(&str, &str)] = &[
    ("'plain %s'", "plain %s"),
    (r#""%s is %d and %i %f", "x", 42.5, 42.9, "1.50z""#, "x is 42.5 and 42 1.5"),
    (r#""%o", {a:1}"#, "{ a: 1 }"),
    (r#""%O", {a:{b:{c:{d:1}}}}"#, "{ a: { b: { c: [Object] } } }"),
    (r#""%j", {a:[1,2]}"#, r#"{"a":[1,2]}"#),
    (r#""%c styled", "color: red""#, " styled"),
    (r#""100%", 5"#, "100% 5"),
    (r#""%% %s", "a""#, "% a"),
    (r#""%s", null"#, "null"),
    (r#""%s", undefined"#, "undefined"),
    (r#""%s", Symbol("q")"#, "Symbol(q)"),
    (r#""%s", 12n"#, "12n"),
    (r#""%s", {a:1, b:{c:2}}"#, "{ a: 1, b: [Object] }"),
    (r#""%s", [1,[2,[3]]]"#, "[ 1, [Array] ]"),
    (r#""%s", class A{}"#, "class A{}"),
    (r#""%s", () => 5"#, "() => 5"),
    (r#""%s", {toString(){return "mine"}}"#, "mine"),
    (r#""%d", "abc""#, "NaN"),
    (r#""%d", 5n"#, "5n"),
    (r#""%i", "12.9px""#, "12"),
    (r#""a", 1, "b", true"#, "a 1 b true"),
    ("1", "1"),
    ("-0", "-0"),
    ("1n", "1n"),
    ("true", "true"),
    ("null", "null"),
    ("undefined", "undefined"),
    (r#"Symbol("x")"#, "Symbol(x)"),
    ("NaN", "NaN"),
    ("[]", "[]"),
    ("({})", "{}"),
    ("[1,2,3]", "[ 1, 2, 3 ]"),
    (r#"["a",'b"c',"it's"]"#, r#"[ 'a', 'b"c', "it's" ]"#),
    (r#"["it's \"x\""]"#, r#"[ `it's "x"` ]"#),
    (r#"["a\nb\t\x01\u007f\ud800"]"#, r"[ 'a\nb\t\x01\x7F\ud800' ]"),
    (r#"({a:1,"b-c":2,3:4,$d:5,__proto__:{x:1}})"#, "{ '3': 4, a: 1, 'b-c': 2, '$d': 5 }"),
    (r#"({["__proto__"]: 1})"#, "{ ['__proto__']: 1 }"),
    ("({a:{b:{c:{d:{}}}}})", "{ a: { b: { c: [Object] } } }"),
    ("({a:{b:{c:[1]}}})", "{ a: { b: { c: [Array] } } }"),
    ("[[[[1]]]]", "[ [ [ [Array] ] ] ]"),
    ("[,1,,2,,,]", "[ <1 empty item>, 1, <1 empty item>, 2, <2 empty items> ]"),
    ("[undefined,null]", "[ undefined, null ]"),
    ("new Array(5)", "[ <5 empty items> ]"),
    (r#"Object.assign([1,2],{x:1,"-1":2})"#, "[ 1, 2, x: 1, '-1': 2 ]"),
    (r#"new Map([["a",1],[{k:1},[2]]])"#, "Map(2) { 'a' => 1, { k: 1 } => [ 2 ] }"),
    ("new Map()", "Map(0) {}"),
    (r#"new Set([1,"a",{b:1}])"#, "Set(3) { 1, 'a', { b: 1 } }"),
    ("new Set()", "Set(0) {}"),
    (
        "new Map([[1,new Map([[2,new Map([[3,new Map()]])]])]])",
        "Map(1) { 1 => Map(1) { 2 => Map(1) { 3 => Map(0) {} } } }",
    ),
    ("class Foo{}", "[class Foo]"),
    ("class Foo extends Map{}", "[class Foo extends Map]"),
    ("new (class Foo{constructor(){this.a=1}})", "Foo { a: 1 }"),
    ("new (class Foo extends Map{})([[1,2]])", "Foo(1) [Map] { 1 => 2 }"),
    ("new (class Foo extends Array{})(3)", "Foo(3) [ <3 empty items> ]"),
    ("Object.create(null)", "[Object: null prototype] {}"),
    ("Object.assign(Object.create(null),{a:1})", "[Object: null prototype] { a: 1 }"),
    ("Object.create({})", "{}"),
    ("Object.create(class Q{}.prototype)", "Q {}"),
    ("function f(){}", "[Function: f]"),
    ("()=>{}", "[Function (anonymous)]"),
    ("async function g(){}", "[AsyncFunction: g]"),
    ("function* gen(){}", "[GeneratorFunction: gen]"),
    ("async function* ag(){}", "[AsyncGeneratorFunction: ag]"),
    ("Object.assign(function f(){}, {a:1})", "[Function: f] { a: 1 }"),
    ("class A{ static x = 1 }", "[class A] { x: 1 }"),
    (
        "({get a(){return 1}, set b(x){}, get c(){return 1}, set c(v){}})",
        "{ a: [Getter], b: [Setter], c: [Getter/Setter] }",
    ),
    (
        r#"({f(){}, g: ()=>1, [Symbol("s")]: 2})"#,
        "{ f: [Function: f], g: [Function: g], [Symbol(s)]: 2 }",
    ),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("new Date(NaN)", "Invalid Date"),
    (r"/a\/b/gi", r"/a\/b/gi"),
    ("Object.assign(/x/,{a:1})", "/x/ { a: 1 }"),
    ("new Number(3)", "[Number: 3]"),
    (r#"new String("abc")"#, "[String: 'abc']"),
    ("new Boolean(false)", "[Boolean: false]"),
    (r#"Object(Symbol("z"))"#, "[Symbol: Symbol(z)]"),
    ("Object(5n)", "[BigInt: 5n]"),
    ("new Uint8Array([1,2,3])", "Uint8Array(3) [ 1, 2, 3 ]"),
    ("new Float64Array([1.5,-0])", "Float64Array(2) [ 1.5, -0 ]"),
    ("new BigInt64Array([1n])", "BigInt64Array(1) [ 1n ]"),
    ("new Uint8Array(0)", "Uint8Array(0) []"),
    ("new ArrayBuffer(4)", "ArrayBuffer { [Uint8Contents]: <00 00 00 00>, byteLength: 4 }"),
    (
        "new Uint8Array(60).fill(255).buffer",
        "ArrayBuffer {
  [Uint8Contents]: <ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff>,
  byteLength: 60
}",
    ),
    (
        "new DataView(new ArrayBuffer(3),1)",
        "DataView {
  byteLength: 2,
  byteOffset: 1,
  buffer: ArrayBuffer { [Uint8Contents]: <00 00 00>, byteLength: 3 }
}",
    ),
    ("Promise.resolve(5)", "Promise { 5 }"),
    ("Promise.resolve({a:1})", "Promise { { a: 1 } }"),
    ("new Promise(()=>{})", "Promise { <pending> }"),
    ("new WeakMap()", "WeakMap { <items unknown> }"),
    ("new WeakSet()", "WeakSet { <items unknown> }"),
    ("new Proxy({a:1},{get(){throw 1}})", "{ a: 1 }"),
    ("new Proxy([1,2],{})", "[ 1, 2 ]"),
    ("new Proxy(function foo(){},{})", "[Function: foo]"),
    ("(()=>{const o={a:1};o.self=o;return o})()", "<ref *1> { a: 1, self: [Circular *1] }"),
    (
        "(()=>{const o={a:{b:{}}};o.a.b.up=o.a;o.top=o;return o})()",
        "<ref *2> {
  a: <ref *1> { b: { up: [Circular *1] } },
  top: [Circular *2]
}",
    ),
    ("(()=>{const a=[1];a.push(a);return a})()", "<ref *1> [ 1, [Circular *1] ]"),
    ("(function(){return arguments})(1,2)", "[Arguments] { '0': 1, '1': 2 }"),
    (
        r#"({a:"x".repeat(100)})"#,
        "{
  a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
}",
    ),
    (
        r#"["x".repeat(30),"y".repeat(30),"z".repeat(30)]"#,
        "[
  'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy',
  'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'
]",
    ),
    (
        "({aaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbbbbbb:2,cccccccccccccccccccc:3,dddddddddddddddd:4,eeee:5})",
        "{
  aaaaaaaaaaaaaaa: 1,
  bbbbbbbbbbbbbbbbbbbb: 2,
  cccccccccccccccccccc: 3,
  dddddddddddddddd: 4,
  eeee: 5
}",
    ),
    (
        "Array.from({length:10},(_, i)=>i)",
        "[
  0, 1, 2, 3, 4,
  5, 6, 7, 8, 9
]",
    ),
    (
        "Array.from({length:101},(_, i)=>i)",
        "[
   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,
  12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
  24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
  36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
  48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
  60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71,
  72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83,
  84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95,
  96, 97, 98, 99,
  ... 1 more item
]",
    ),
    (
        r#"Array.from({length:27},(_, i)=>"item"+i)"#,
        "[
  'item0',  'item1',  'item2',
  'item3',  'item4',  'item5',
  'item6',  'item7',  'item8',
  'item9',  'item10', 'item11',
  'item12', 'item13', 'item14',
  'item15', 'item16', 'item17',
  'item18', 'item19', 'item20',
  'item21', 'item22', 'item23',
  'item24', 'item25', 'item26'
]",
    ),
    (
        "new Uint8Array(200)",
        "Uint8Array(200) [
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0,
  ... 100 more items
]",
    ),
    (
        r#"Array.from({length:8},(_, i)=>({id:i,name:"n"+i}))"#,
        "[
  { id: 0, name: 'n0' },
  { id: 1, name: 'n1' },
  { id: 2, name: 'n2' },
  { id: 3, name: 'n3' },
  { id: 4, name: 'n4' },
  { id: 5, name: 'n5' },
  { id: 6, name: 'n6' },
  { id: 7, name: 'n7' }
]",
    ),
    (
        "[1.5,2.25,100,-3,4,5,6,7,8]",
        "[
  1.5, 2.25, 100, -3,
    4,    5,   6,  7,
    8
]",
    ),
    (
        r#"["a","bb","ccc","dddd","eeeee","ffffff","ggggggg"]"#,
        "[
  'a',       'bb',
  'ccc',     'dddd',
  'eeeee',   'ffffff',
  'ggggggg'
]",
    ),
    (
        r#"({list:[1,2,3,4,5,6,7,8,9,10], s:"x"})"#,
        "{
  list: [
    1, 2, 3, 4,  5,
    6, 7, 8, 9, 10
  ],
  s: 'x'
}",
    ),
    ("({a:[{b:[{c:1}]}]})", "{ a: [ { b: [Array] } ] }"),
    ("[{a:{b:1}},{a:{b:2}}]", "[ { a: { b: 1 } }, { a: { b: 2 } } ]"),
    (r#"({a:"line1\nline2"})"#, r"{ a: 'line1\nline2' }"),
    (
        r#"({a:"first line that is long enough to be broken up\nsecond line that is also quite long, really"})"#,
        r"{
  a: 'first line that is long enough to be broken up\n' +
    'second line that is also quite long, really'
}",
    ),
    (
        "[[1,2,[3,4,[5,[6]]]],{a:[1,{b:2}]}]",
        "[ [ 1, 2, [ 3, 4, [Array] ] ], { a: [ 1, [Object] ] } ]",
    ),
    (r#"({[Symbol.toStringTag]:"Tagged"})"#, "{ [Symbol(Symbol.toStringTag)]: 'Tagged' }"),
    ("(function*(){})()", "Object [Generator] {}"),
    ("[1,2][Symbol.iterator]()", "Object [Array Iterator] {}"),
    ("globalThis === undefined", "false"),
    ("Math", "Object [Math] {}"),
    ("JSON", "Object [JSON] {}"),
    ("Reflect.ownKeys({a:1})", "[ 'a' ]"),
    ("({a:undefined,b:null,c:NaN,d:-0})", "{ a: undefined, b: null, c: NaN, d: -0 }"),
    (
        r#"[1,"two",3n,null,undefined,true,Symbol("q"),()=>1]"#,
        "[
  1,
  'two',
  3n,
  null,
  undefined,
  true,
  Symbol(q),
  [Function (anonymous)]
]",
    ),
    ("({a:1n,b:[1n]})", "{ a: 1n, b: [ 1n ] }"),
    ("Object.freeze({a:1})", "{ a: 1 }"),
    (r#"[["a",1],["b",2]]"#, "[ [ 'a', 1 ], [ 'b', 2 ] ]"),
    (r#"({"a b":1,"1a":2,a1:3,"é":4})"#, "{ 'a b': 1, '1a': 2, a1: 3, 'é': 4 }"),
    ("({x:{}})", "{ x: {} }"),
    ("({x:[]})", "{ x: [] }"),
    ("[{}]", "[ {} ]"),
    ("[[]]", "[ [] ]"),
    (
        r#"({name:"Alice",age:30,tags:["x","y"],address:{city:"Paris",geo:{lat:1.5,lon:2.5}}})"#,
        "{
  name: 'Alice',
  age: 30,
  tags: [ 'x', 'y' ],
  address: { city: 'Paris', geo: { lat: 1.5, lon: 2.5 } }
}",
    ),
    (r#"new Error("x").message"#, "x"),
    (r#"[new Date(0), /x/, new Error("q").message]"#, "[ 1970-01-01T00:00:00.000Z, /x/, 'q' ]"),
    (
        r#""multi\nline""#,
        "multi
line",
    ),
    (r#"["multi\nline"]"#, r"[ 'multi\nline' ]"),
    (
        "({ fn: function named() {}, kl: class K {} , as: async () => {} })",
        "{ fn: [Function: named], kl: [class K], as: [AsyncFunction: as] }",
    ),
    (r#"[ "%s" ]"#, "[ '%s' ]"),
    (r#""%s %s", "only one""#, "only one %s"),
    (r#""%x", 1"#, "%x 1"),
    (r#""a%", "b""#, "a% b"),
    (r#""""#, ""),
    (r#""", "x""#, " x"),
    (r#"" ", 1"#, "  1"),
];

#[test]
fn lines_are_those_of_node() {
    let calls: Vec<String> = LINES.iter().map(|(arguments, _)| format!("console.log({arguments})")).collect();
    let world = Fake::new(1);
    let mut body = job(Entry::Body, &calls.join(";\n"));
    body.limits.console_lines = 1_000;
    body.limits.console_bytes = 1 << 20;
    assert_eq!(run_in(body, &world).given, Given::Value("null".to_owned()));
    let said = world.lines.take();
    assert_eq!(said.len(), LINES.len());
    for ((arguments, expected), (_, line)) in LINES.iter().zip(said) {
        assert_eq!(line, *expected, "{arguments}");
    }
}

#[test]
fn every_level_has_its_method() {
    let said = lines("console.debug(1); console.log(2); console.info(3); console.warn(4); console.error(5)");
    let levels: Vec<LogLevel> = said.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error]);
    gives("return [console.log(), Object.keys(console)]", r#"[null,["log","info","warn","error","debug"]]"#);
    assert_eq!(lines("const { log } = console; log('unbound')"), [(LogLevel::Log, "unbound".to_owned())]);
}

#[test]
fn an_error_is_shown_with_its_stack() {
    for (arguments, expected) in [
        ("new Error('m')", "Error: m\n    at <anonymous> (code:1:17)"),
        ("new TypeError('m')", "TypeError: m\n    at <anonymous> (code:1:17)"),
        ("{ e: new Error('m') }", "{\n  e: Error: m\n      at <anonymous> (code:1:22)\n}"),
        (
            "Object.assign(new Error('m'), { code: 'E' })",
            "Error: m\n    at <anonymous> (code:1:31) {\n  code: 'E'\n}",
        ),
        ("new Error('m', { cause: 'c' })", "Error: m\n    at <anonymous> (code:1:17) {\n  [cause]: 'c'\n}"),
        ("'%s', new Error('m')", "Error: m\n    at <anonymous> (code:1:23)"),
    ] {
        let said = lines(&format!("console.log({arguments})"));
        assert_eq!(said, [(LogLevel::Log, expected.to_owned())], "{arguments}");
    }
}

#[test]
fn nothing_of_the_guests_runs_to_show_a_value() {
    for value in [
        "{ get a() { throw 1 }, toString() { throw 1 }, inspect() { throw 1 }, [Symbol.toPrimitive]() { throw 1 } }",
        "new Proxy({}, new Proxy({}, { get() { throw 1 } }))",
        "Object.create(new Proxy({}, new Proxy({}, { get() { throw 1 } })))",
        "Object.defineProperty(() => {}, 'name', { get() { throw 1 } })",
        "Object.defineProperty([], 'constructor', { get() { throw 1 } })",
        "Object.defineProperty({}, Symbol.toStringTag, { get() { throw 1 } })",
        "new (class A extends Map { get size() { throw 1 } forEach() { throw 1 } })([[1, 2]])",
        "Object.defineProperty(new Error('x'), 'stack', { get() { throw 1 } })",
        "Object.defineProperty(/x/, 'flags', { get() { throw 1 } })",
        "Object.assign(new Date(0), { toISOString() { throw 1 } })",
        "class { static [Symbol.hasInstance]() { throw 1 } }",
    ] {
        assert_eq!(lines(&format!("console.log({value}, [{value}])")).len(), 1, "{value}");
    }
}

#[test]
fn a_guest_cannot_change_how_lines_are_made() {
    let source = "const shown = [{ a: [1, 'b'] }, new Map([[1, { c: 2 }]])]; Array.prototype[Symbol.iterator] = null; Array.prototype.join = null; String.prototype.slice = () => 'x';
        Object.defineProperty(Array.prototype, '0', { set() { throw 1 } }); Map.prototype.forEach = null;
        Reflect.ownKeys = () => []; RegExp.prototype.exec = null;
        Object.getPrototypeOf(() => {}).call = null; Object.getPrototypeOf(() => {}).bind = null;
        console.log(shown[0], shown[1])";
    assert_eq!(lines(source), [(LogLevel::Log, "{ a: [ 1, 'b' ] } Map(1) { 1 => { c: 2 } }".to_owned())]);
}

#[test]
fn lines_beyond_the_limits_are_counted() {
    #[track_caller]
    fn check(source: &str, kept: usize, dropped: u64) {
        let world = Fake::new(1);
        let mut body = job(Entry::Body, source);
        body.limits.console_lines = 3;
        body.limits.console_bytes = 10;
        let report = run_in(body, &world);
        assert_eq!(report.given, Given::Value("null".to_owned()), "{source}");
        assert_eq!((world.lines.borrow().len(), report.logs_dropped), (kept, dropped), "{source}");
    }
    check("for (let i = 0; i < 3; i++) console.log(i)", 3, 0);
    check("for (let i = 0; i < 1000; i++) console.log(i)", 3, 997);
    check("console.log('0123456789'); console.log('')", 2, 0);
    check("console.log('01234567890')", 0, 1);
    check("console.log('é'.repeat(6)); console.log('a')", 0, 2);
}

#[test]
fn what_a_format_calls_may_throw() {
    assert_eq!(
        trouble("console.log('%s', { toString() { throw new Error('mine') } })").message,
        "Error: mine"
    );
    assert_eq!(
        trouble("console.log('%d', { valueOf() { throw new Error('mine') } })").message,
        "Error: mine"
    );
}
