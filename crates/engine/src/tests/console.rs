//! Console lines, compared with what node prints for the same arguments.

use bailiwick_types::LogLevel;
use bailiwick_wire::{Entry, Given};

use super::{Fake, gives, job, lines, run_in, trouble};

/// The arguments of `console.log`, and what node 20 prints.
const LINES: &[(&str, &str)] = &[
    (r##"'plain %s'"##, r##"plain %s"##),
    (r##""%s is %d and %i %f", "x", 42.5, 42.9, "1.50z""##, r##"x is 42.5 and 42 1.5"##),
    (r##""%o", {a:1}"##, r##"{ a: 1 }"##),
    (r##""%O", {a:{b:{c:{d:1}}}}"##, r##"{ a: { b: { c: [Object] } } }"##),
    (r##""%j", {a:[1,2]}"##, r##"{"a":[1,2]}"##),
    (r##""%c styled", "color: red""##, r##" styled"##),
    (r##""100%", 5"##, r##"100% 5"##),
    (r##""%% %s", "a""##, r##"% a"##),
    (r##""%s", null"##, r##"null"##),
    (r##""%s", undefined"##, r##"undefined"##),
    (r##""%s", Symbol("q")"##, r##"Symbol(q)"##),
    (r##""%s", 12n"##, r##"12n"##),
    (r##""%s", {a:1, b:{c:2}}"##, r##"{ a: 1, b: [Object] }"##),
    (r##""%s", [1,[2,[3]]]"##, r##"[ 1, [Array] ]"##),
    (r##""%s", class A{}"##, r##"class A{}"##),
    (r##""%s", () => 5"##, r##"() => 5"##),
    (r##""%s", {toString(){return "mine"}}"##, r##"mine"##),
    (r##""%d", "abc""##, r##"NaN"##),
    (r##""%d", 5n"##, r##"5n"##),
    (r##""%i", "12.9px""##, r##"12"##),
    (r##""a", 1, "b", true"##, r##"a 1 b true"##),
    (r##"1"##, r##"1"##),
    (r##"-0"##, r##"-0"##),
    (r##"1n"##, r##"1n"##),
    (r##"true"##, r##"true"##),
    (r##"null"##, r##"null"##),
    (r##"undefined"##, r##"undefined"##),
    (r##"Symbol("x")"##, r##"Symbol(x)"##),
    (r##"NaN"##, r##"NaN"##),
    (r##"[]"##, r##"[]"##),
    (r##"({})"##, r##"{}"##),
    (r##"[1,2,3]"##, r##"[ 1, 2, 3 ]"##),
    (r##"["a",'b"c',"it's"]"##, r##"[ 'a', 'b"c', "it's" ]"##),
    (r##"["it's \"x\""]"##, r##"[ `it's "x"` ]"##),
    (r##"["a\nb\t\x01\u007f\ud800"]"##, r##"[ 'a\nb\t\x01\x7F\ud800' ]"##),
    (r##"({a:1,"b-c":2,3:4,$d:5,__proto__:{x:1}})"##, r##"{ '3': 4, a: 1, 'b-c': 2, '$d': 5 }"##),
    (r##"({["__proto__"]: 1})"##, r##"{ ['__proto__']: 1 }"##),
    (r##"({a:{b:{c:{d:{}}}}})"##, r##"{ a: { b: { c: [Object] } } }"##),
    (r##"({a:{b:{c:[1]}}})"##, r##"{ a: { b: { c: [Array] } } }"##),
    (r##"[[[[1]]]]"##, r##"[ [ [ [Array] ] ] ]"##),
    (r##"[,1,,2,,,]"##, r##"[ <1 empty item>, 1, <1 empty item>, 2, <2 empty items> ]"##),
    (r##"[undefined,null]"##, r##"[ undefined, null ]"##),
    (r##"new Array(5)"##, r##"[ <5 empty items> ]"##),
    (r##"Object.assign([1,2],{x:1,"-1":2})"##, r##"[ 1, 2, x: 1, '-1': 2 ]"##),
    (r##"new Map([["a",1],[{k:1},[2]]])"##, r##"Map(2) { 'a' => 1, { k: 1 } => [ 2 ] }"##),
    (r##"new Map()"##, r##"Map(0) {}"##),
    (r##"new Set([1,"a",{b:1}])"##, r##"Set(3) { 1, 'a', { b: 1 } }"##),
    (r##"new Set()"##, r##"Set(0) {}"##),
    (
        r##"new Map([[1,new Map([[2,new Map([[3,new Map()]])]])]])"##,
        r##"Map(1) { 1 => Map(1) { 2 => Map(1) { 3 => Map(0) {} } } }"##,
    ),
    (r##"class Foo{}"##, r##"[class Foo]"##),
    (r##"class Foo extends Map{}"##, r##"[class Foo extends Map]"##),
    (r##"new (class Foo{constructor(){this.a=1}})"##, r##"Foo { a: 1 }"##),
    (r##"new (class Foo extends Map{})([[1,2]])"##, r##"Foo(1) [Map] { 1 => 2 }"##),
    (r##"new (class Foo extends Array{})(3)"##, r##"Foo(3) [ <3 empty items> ]"##),
    (r##"Object.create(null)"##, r##"[Object: null prototype] {}"##),
    (r##"Object.assign(Object.create(null),{a:1})"##, r##"[Object: null prototype] { a: 1 }"##),
    (r##"Object.create({})"##, r##"{}"##),
    (r##"Object.create(class Q{}.prototype)"##, r##"Q {}"##),
    (r##"function f(){}"##, r##"[Function: f]"##),
    (r##"()=>{}"##, r##"[Function (anonymous)]"##),
    (r##"async function g(){}"##, r##"[AsyncFunction: g]"##),
    (r##"function* gen(){}"##, r##"[GeneratorFunction: gen]"##),
    (r##"async function* ag(){}"##, r##"[AsyncGeneratorFunction: ag]"##),
    (r##"Object.assign(function f(){}, {a:1})"##, r##"[Function: f] { a: 1 }"##),
    (r##"class A{ static x = 1 }"##, r##"[class A] { x: 1 }"##),
    (
        r##"({get a(){return 1}, set b(x){}, get c(){return 1}, set c(v){}})"##,
        r##"{ a: [Getter], b: [Setter], c: [Getter/Setter] }"##,
    ),
    (
        r##"({f(){}, g: ()=>1, [Symbol("s")]: 2})"##,
        r##"{ f: [Function: f], g: [Function: g], [Symbol(s)]: 2 }"##,
    ),
    (r##"new Date(0)"##, r##"1970-01-01T00:00:00.000Z"##),
    (r##"new Date(NaN)"##, r##"Invalid Date"##),
    (r##"/a\/b/gi"##, r##"/a\/b/gi"##),
    (r##"Object.assign(/x/,{a:1})"##, r##"/x/ { a: 1 }"##),
    (r##"new Number(3)"##, r##"[Number: 3]"##),
    (r##"new String("abc")"##, r##"[String: 'abc']"##),
    (r##"new Boolean(false)"##, r##"[Boolean: false]"##),
    (r##"Object(Symbol("z"))"##, r##"[Symbol: Symbol(z)]"##),
    (r##"Object(5n)"##, r##"[BigInt: 5n]"##),
    (r##"new Uint8Array([1,2,3])"##, r##"Uint8Array(3) [ 1, 2, 3 ]"##),
    (r##"new Float64Array([1.5,-0])"##, r##"Float64Array(2) [ 1.5, -0 ]"##),
    (r##"new BigInt64Array([1n])"##, r##"BigInt64Array(1) [ 1n ]"##),
    (r##"new Uint8Array(0)"##, r##"Uint8Array(0) []"##),
    (r##"new ArrayBuffer(4)"##, r##"ArrayBuffer { [Uint8Contents]: <00 00 00 00>, byteLength: 4 }"##),
    (
        r##"new Uint8Array(60).fill(255).buffer"##,
        r##"ArrayBuffer {
  [Uint8Contents]: <ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff>,
  byteLength: 60
}"##,
    ),
    (
        r##"new DataView(new ArrayBuffer(3),1)"##,
        r##"DataView {
  byteLength: 2,
  byteOffset: 1,
  buffer: ArrayBuffer { [Uint8Contents]: <00 00 00>, byteLength: 3 }
}"##,
    ),
    (r##"Promise.resolve(5)"##, r##"Promise { 5 }"##),
    (r##"Promise.resolve({a:1})"##, r##"Promise { { a: 1 } }"##),
    (r##"new Promise(()=>{})"##, r##"Promise { <pending> }"##),
    (r##"new WeakMap()"##, r##"WeakMap { <items unknown> }"##),
    (r##"new WeakSet()"##, r##"WeakSet { <items unknown> }"##),
    (r##"new Proxy({a:1},{get(){throw 1}})"##, r##"{ a: 1 }"##),
    (r##"new Proxy([1,2],{})"##, r##"[ 1, 2 ]"##),
    (r##"new Proxy(function foo(){},{})"##, r##"[Function: foo]"##),
    (r##"(()=>{const o={a:1};o.self=o;return o})()"##, r##"<ref *1> { a: 1, self: [Circular *1] }"##),
    (
        r##"(()=>{const o={a:{b:{}}};o.a.b.up=o.a;o.top=o;return o})()"##,
        r##"<ref *2> {
  a: <ref *1> { b: { up: [Circular *1] } },
  top: [Circular *2]
}"##,
    ),
    (r##"(()=>{const a=[1];a.push(a);return a})()"##, r##"<ref *1> [ 1, [Circular *1] ]"##),
    (r##"(function(){return arguments})(1,2)"##, r##"[Arguments] { '0': 1, '1': 2 }"##),
    (
        r##"({a:"x".repeat(100)})"##,
        r##"{
  a: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
}"##,
    ),
    (
        r##"["x".repeat(30),"y".repeat(30),"z".repeat(30)]"##,
        r##"[
  'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy',
  'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'
]"##,
    ),
    (
        r##"({aaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbbbbbb:2,cccccccccccccccccccc:3,dddddddddddddddd:4,eeee:5})"##,
        r##"{
  aaaaaaaaaaaaaaa: 1,
  bbbbbbbbbbbbbbbbbbbb: 2,
  cccccccccccccccccccc: 3,
  dddddddddddddddd: 4,
  eeee: 5
}"##,
    ),
    (
        r##"Array.from({length:10},(_, i)=>i)"##,
        r##"[
  0, 1, 2, 3, 4,
  5, 6, 7, 8, 9
]"##,
    ),
    (
        r##"Array.from({length:101},(_, i)=>i)"##,
        r##"[
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
]"##,
    ),
    (
        r##"Array.from({length:27},(_, i)=>"item"+i)"##,
        r##"[
  'item0',  'item1',  'item2',
  'item3',  'item4',  'item5',
  'item6',  'item7',  'item8',
  'item9',  'item10', 'item11',
  'item12', 'item13', 'item14',
  'item15', 'item16', 'item17',
  'item18', 'item19', 'item20',
  'item21', 'item22', 'item23',
  'item24', 'item25', 'item26'
]"##,
    ),
    (
        r##"new Uint8Array(200)"##,
        r##"Uint8Array(200) [
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
]"##,
    ),
    (
        r##"Array.from({length:8},(_, i)=>({id:i,name:"n"+i}))"##,
        r##"[
  { id: 0, name: 'n0' },
  { id: 1, name: 'n1' },
  { id: 2, name: 'n2' },
  { id: 3, name: 'n3' },
  { id: 4, name: 'n4' },
  { id: 5, name: 'n5' },
  { id: 6, name: 'n6' },
  { id: 7, name: 'n7' }
]"##,
    ),
    (
        r##"[1.5,2.25,100,-3,4,5,6,7,8]"##,
        r##"[
  1.5, 2.25, 100, -3,
    4,    5,   6,  7,
    8
]"##,
    ),
    (
        r##"["a","bb","ccc","dddd","eeeee","ffffff","ggggggg"]"##,
        r##"[
  'a',       'bb',
  'ccc',     'dddd',
  'eeeee',   'ffffff',
  'ggggggg'
]"##,
    ),
    (
        r##"({list:[1,2,3,4,5,6,7,8,9,10], s:"x"})"##,
        r##"{
  list: [
    1, 2, 3, 4,  5,
    6, 7, 8, 9, 10
  ],
  s: 'x'
}"##,
    ),
    (r##"({a:[{b:[{c:1}]}]})"##, r##"{ a: [ { b: [Array] } ] }"##),
    (r##"[{a:{b:1}},{a:{b:2}}]"##, r##"[ { a: { b: 1 } }, { a: { b: 2 } } ]"##),
    (r##"({a:"line1\nline2"})"##, r##"{ a: 'line1\nline2' }"##),
    (
        r##"({a:"first line that is long enough to be broken up\nsecond line that is also quite long, really"})"##,
        r##"{
  a: 'first line that is long enough to be broken up\n' +
    'second line that is also quite long, really'
}"##,
    ),
    (
        r##"[[1,2,[3,4,[5,[6]]]],{a:[1,{b:2}]}]"##,
        r##"[ [ 1, 2, [ 3, 4, [Array] ] ], { a: [ 1, [Object] ] } ]"##,
    ),
    (r##"({[Symbol.toStringTag]:"Tagged"})"##, r##"{ [Symbol(Symbol.toStringTag)]: 'Tagged' }"##),
    (r##"(function*(){})()"##, r##"Object [Generator] {}"##),
    (r##"[1,2][Symbol.iterator]()"##, r##"Object [Array Iterator] {}"##),
    (r##"globalThis === undefined"##, r##"false"##),
    (r##"Math"##, r##"Object [Math] {}"##),
    (r##"JSON"##, r##"Object [JSON] {}"##),
    (r##"Reflect.ownKeys({a:1})"##, r##"[ 'a' ]"##),
    (r##"({a:undefined,b:null,c:NaN,d:-0})"##, r##"{ a: undefined, b: null, c: NaN, d: -0 }"##),
    (
        r##"[1,"two",3n,null,undefined,true,Symbol("q"),()=>1]"##,
        r##"[
  1,
  'two',
  3n,
  null,
  undefined,
  true,
  Symbol(q),
  [Function (anonymous)]
]"##,
    ),
    (r##"({a:1n,b:[1n]})"##, r##"{ a: 1n, b: [ 1n ] }"##),
    (r##"Object.freeze({a:1})"##, r##"{ a: 1 }"##),
    (r##"[["a",1],["b",2]]"##, r##"[ [ 'a', 1 ], [ 'b', 2 ] ]"##),
    (r##"({"a b":1,"1a":2,a1:3,"é":4})"##, r##"{ 'a b': 1, '1a': 2, a1: 3, 'é': 4 }"##),
    (r##"({x:{}})"##, r##"{ x: {} }"##),
    (r##"({x:[]})"##, r##"{ x: [] }"##),
    (r##"[{}]"##, r##"[ {} ]"##),
    (r##"[[]]"##, r##"[ [] ]"##),
    (
        r##"({name:"Alice",age:30,tags:["x","y"],address:{city:"Paris",geo:{lat:1.5,lon:2.5}}})"##,
        r##"{
  name: 'Alice',
  age: 30,
  tags: [ 'x', 'y' ],
  address: { city: 'Paris', geo: { lat: 1.5, lon: 2.5 } }
}"##,
    ),
    (r##"new Error("x").message"##, r##"x"##),
    (r##"[new Date(0), /x/, new Error("q").message]"##, r##"[ 1970-01-01T00:00:00.000Z, /x/, 'q' ]"##),
    (
        r##""multi\nline""##,
        r##"multi
line"##,
    ),
    (r##"["multi\nline"]"##, r##"[ 'multi\nline' ]"##),
    (
        r##"({ fn: function named() {}, kl: class K {} , as: async () => {} })"##,
        r##"{ fn: [Function: named], kl: [class K], as: [AsyncFunction: as] }"##,
    ),
    (r##"[ "%s" ]"##, r##"[ '%s' ]"##),
    (r##""%s %s", "only one""##, r##"only one %s"##),
    (r##""%x", 1"##, r##"%x 1"##),
    (r##""a%", "b""##, r##"a% b"##),
    (r##""""##, r##""##),
    (r##""", "x""##, r##" x"##),
    (r##"" ", 1"##, r##"  1"##),
];

#[test]
fn lines_are_those_of_node() {
    for (arguments, expected) in LINES {
        let said = lines(&format!("console.log({arguments})"));
        assert_eq!(said, [(LogLevel::Log, (*expected).to_owned())], "{arguments}");
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
