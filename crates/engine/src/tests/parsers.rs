//! safety.parser as a guest meets it: what it gives, what it throws, and what a hostile realm cannot reach.

use bailiwick_wire::{Entry, Given};

use super::{gives, gives_for, job, run};

/// A row is an expression and the JSON of what it gives, or of `[name, code, reason]` of what it throws.
#[track_caller]
fn check(before: &str, rows: &[(&str, &str)]) {
    let (given, wanted): (Vec<String>, Vec<&str>) = rows
        .iter()
        .map(|(row, wanted)| {
            let row = format!(
                "(() => {{ try {{ return {row} }} catch (e) {{ return [e.name, e.code, e.reason].filter((x) => x) }} }})()"
            );
            (row, *wanted)
        })
        .unzip();
    let source =
        format!("const {{ html, xml, csv, yaml }} = safety.parser; {before}\nreturn [{}]", given.join(",\n"));
    gives_for(job(Entry::Body, &source), &format!("[{}]", wanted.join(",")));
}

#[test]
fn texts_are_parsed_to_plain_objects() {
    check(
        "const page = '<p class=x>a</p><p>b</p><table><tr><th>k<tr><td>v</table><a href=/l>t</a>';",
        &[
            (
                "html.select(page, 'p.x')",
                r#"[{"tag":"p","attrs":{"class":"x"},"text":"a","html":"<p class=\"x\">a</p>"}]"#,
            ),
            ("html.select(page, 'p', { limit: 1 }).length", "1"),
            ("html.select(page, 'p', undefined).length", "2"),
            ("html.text(page, 'p')", r#""a\nb""#),
            ("html.text('<p>x')", r#""x""#),
            ("html.attribute(page, 'p', 'class')", r#"["x",null]"#),
            ("html.tables(page)", r#"[[["k"],["v"]]]"#),
            ("html.tables(page, { header: true })", r#"[[{"k":"v"}]]"#),
            ("html.tables(page, { selector: '#no' })", "[]"),
            ("html.main('<title>t</title><p>x').title", r#""t""#),
            ("html.links(page)", r#"[{"href":"/l","text":"t"}]"#),
            ("html.links(page, { base: 'http://h' })[0].href", r#""http://h/l""#),
            ("xml.parse('<a b=\"1\">t</a>')", r#"{"tag":"a","attrs":{"b":"1"},"text":"t","children":[]}"#),
            ("csv.parse('a,b\\n1,2')", r#"[{"a":"1","b":"2"}]"#),
            ("csv.parse('1;2', { header: false, delimiter: ';' })", r#"[["1","2"]]"#),
            ("csv.parse('1, 2 ', { header: ['x', 'y'], trim: true })", r#"[{"x":"1","y":"2"}]"#),
            ("csv.parse(\"'a,b'\", { header: false, quote: \"'\" })", r#"[["a,b"]]"#),
            ("csv.stringify([{ a: 1, b: 'x,y' }])", r#""a,b\n1,\"x,y\"\n""#),
            ("csv.stringify([{ a: 1, b: 2 }], { header: ['b'] })", r#""b\n2\n""#),
            ("csv.stringify([{ a: 1 }], { header: false, quoteAll: true })", r#""\"1\"\n""#),
            ("yaml.parse('a: [1, no, ~]')", r#"{"a":[1,"no",null]}"#),
            ("yaml.parse('.inf') === Infinity && yaml.parse('-.inf') === -Infinity", "true"),
            ("yaml.parseAll('1\\n---\\n2')", "[1,2]"),
            ("yaml.stringify({ a: [1, 'no'] })", r#""a:\n  - 1\n  - \"no\"\n""#),
            ("yaml.stringify([Infinity, -Infinity, '\\0.inf'])", r#""- .inf\n- -.inf\n- \"\\u0000.inf\"\n""#),
            ("yaml.stringify({ a: undefined, b: new Date(0) })", r#""b: \"1970-01-01T00:00:00.000Z\"\n""#),
            ("yaml.parse('__proto__: 1').__proto__ === 1", "true"),
            ("Object.getPrototypeOf(yaml.parse('{}')) === Object.prototype", "true"),
            ("Array.isArray(csv.parse(''))", "true"),
            ("html.text('\\ud800x')", r#""�x""#),
        ],
    );
}

#[test]
fn wrong_arguments_are_type_errors() {
    let calls = [
        "html.select()",
        "html.select(1, 'a')",
        "html.select('a')",
        "html.select('a', 'a', 1)",
        "html.select('a', 'a', [])",
        "html.select('a', 'a', { limit: -1 })",
        "html.select('a', 'a', { limit: 1.5 })",
        "html.select('a', 'a', { limit: '1' })",
        "html.text(null)",
        "html.text('a', null)",
        "html.attribute('a', 'b')",
        "html.tables('a', { header: 1 })",
        "html.tables('a', { selector: 1 })",
        "html.main(new String('a'))",
        "html.links('a', { base: new URL('http://h') })",
        "xml.parse(Symbol())",
        "csv.parse('a', { header: 1 })",
        "csv.parse('a', { header: [1] })",
        "csv.parse('a', { delimiter: ',,' })",
        "csv.parse('a', { quote: '' })",
        "csv.parse('a', { trim: 'yes' })",
        "csv.stringify('a')",
        "csv.stringify({})",
        "(() => { const a = []; a[0] = a; return csv.stringify(a) })()",
        "yaml.parse(1)",
        "yaml.parseAll()",
        "yaml.stringify()",
        "yaml.stringify(() => {})",
        "yaml.stringify(1n)",
        "yaml.stringify([NaN])",
        "(() => { const a = {}; a.a = a; return yaml.stringify(a) })()",
    ];
    let rows: Vec<(&str, &str)> = calls.iter().map(|call| (*call, r#"["TypeError"]"#)).collect();
    check("", &rows);
}

#[test]
fn what_cannot_be_parsed_is_thrown_with_its_reason() {
    check(
        "",
        &[
            ("html.select('a', '(')", r#"["Error","PARSE_FAILED","bad-selector"]"#),
            ("html.links('a', { base: 'x' })", r#"["Error","PARSE_FAILED","bad-option"]"#),
            ("xml.parse('<a>')", r#"["Error","PARSE_FAILED","malformed"]"#),
            ("xml.parse('<!DOCTYPE a><a/>')", r#"["Error","PARSE_FAILED","doctype"]"#),
            ("csv.parse('\"a')", r#"["Error","PARSE_FAILED","malformed"]"#),
            ("csv.parse('a', { delimiter: 'é' })", r#"["Error","PARSE_FAILED","bad-option"]"#),
            ("csv.stringify([1])", r#"["Error","PARSE_FAILED","malformed"]"#),
            ("yaml.parse('!x 1')", r#"["Error","PARSE_FAILED","custom-tag"]"#),
            ("yaml.parse('a: 1\\na: 2')", r#"["Error","PARSE_FAILED","duplicate-key"]"#),
        ],
    );
    gives(
        "try { safety.parser.yaml.parse('a: 1\\na: 2') } catch (e) { return [e instanceof Error, e.message, Object.keys(e)] }",
        r#"[true,"`a` is given twice (line 2, column 1)",["code","reason"]]"#,
    );
}

#[test]
fn bombs_are_thrown_and_the_guest_goes_on() {
    check(
        "const deep = (s, n = 100000) => s.repeat(n);
         let laughs = 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\\n';
         for (let i = 1; i < 12; i++) laughs += `a${i}: &a${i} [${Array(10).fill('*a' + (i - 1))}]\\n`;
         const attrs = Array.from({ length: 100000 }, (_, i) => ` a${i}=''`).join('');",
        &[
            ("html.text(deep('<div>'))", r#"["Error","PARSE_FAILED","too-deep"]"#),
            ("html.main(deep('<b><p>x'))", r#"["Error","PARSE_FAILED","too-many-nodes"]"#),
            ("html.select('<a' + attrs + '>', 'a')", r#"["Error","PARSE_FAILED","too-many-attributes"]"#),
            ("html.select('a', deep(':not('))", r#"["Error","PARSE_FAILED","bad-selector"]"#),
            (
                "html.tables(deep('<table><tr><td colspan=1000>', 1000))",
                r#"["Error","PARSE_FAILED","too-deep"]"#,
            ),
            (
                "html.tables(deep('<table><tr><td colspan=1000></table>', 1000))",
                r#"["Error","PARSE_FAILED","too-many-cells"]"#,
            ),
            ("xml.parse(deep('<a>'))", r#"["Error","PARSE_FAILED","too-deep"]"#),
            ("xml.parse('<a' + attrs + '/>')", r#"["Error","PARSE_FAILED","too-many-attributes"]"#),
            ("csv.parse(deep(',', 1000000))", r#"["Error","PARSE_FAILED","too-many-columns"]"#),
            ("csv.parse('\"' + deep('x', 5000000))", r#"["Error","PARSE_FAILED","malformed"]"#),
            ("yaml.parse(laughs)", r#"["Error","PARSE_FAILED","too-many-nodes"]"#),
            ("yaml.parse(deep('['))", r#"["Error","PARSE_FAILED","too-deep"]"#),
            ("yaml.parse('&a [*a]')", r#"["Error","PARSE_FAILED","cycle"]"#),
            ("yaml.parse(deep('x', 7000000))", r#"["Error","PARSE_FAILED","too-large"]"#),
            ("yaml.parse(deep('é', 4000000))", r#"["Error","PARSE_FAILED","too-large"]"#),
            (
                "yaml.stringify(JSON.parse(deep('[', 1000) + deep(']', 1000)))",
                r#"["Error","PARSE_FAILED","too-deep"]"#,
            ),
            ("yaml.parse('1')", "1"),
        ],
    );
}

#[test]
fn a_hostile_realm_reaches_nothing_of_ours() {
    check(
        "let touched = 0; const touch = () => { touched++; return 'hijacked' };
         const sneak = { get: touch, set: touch, configurable: true };
         for (const key of ['tag', 'attrs', 'text', 'a', 'limit', 'header', 'selector', 'base', 'delimiter', 'quote', 'trim', '0', 'code', 'reason', 'get', 'set', 'visible']) {
           if (key !== 'get' && key !== 'set') Object.defineProperty(Object.prototype, key, sneak);
         }
         Object.defineProperty(Array.prototype, '0', sneak);
         JSON.parse = JSON.stringify = String.prototype.slice = String.prototype.indexOf = Array.isArray = touch;
         String.prototype.charCodeAt = Object.defineProperty = touch;
         globalThis.Error = globalThis.TypeError = touch;",
        &[
            ("html.select('<p>x', 'p')[0].text", r#""x""#),
            ("csv.parse('a\\n1')[0].a", r#""1""#),
            ("yaml.parse('{a: 2}').a", "2"),
            ("(() => { try { xml.parse('<') } catch (e) { return e.reason } })()", r#""malformed""#),
            ("touched", "0"),
        ],
    );
    // The engine's own `JSON.stringify` keeps what it is in on an array that sees Array.prototype; what is set there sees
    // no more than what the guest gave.
    check(
        "let touched = 0; const touch = () => { touched++; return 'hijacked' };
         JSON.stringify = String.prototype.charCodeAt = Array.isArray = touch; globalThis.TypeError = touch;",
        &[
            ("yaml.stringify(['x', '\\0', Infinity])", r#""- x\n- \"\\u0000\"\n- .inf\n""#),
            ("csv.stringify([['x']], { header: ['a'] })", r#""a\nx\n""#),
            ("touched", "0"),
        ],
    );
}

#[test]
fn options_are_read_once_and_in_order() {
    check(
        "const read = []; const spy = (target) => new Proxy(target, { get: (t, k) => { read.push(k); return t[k] } });",
        &[
            ("csv.parse('1', spy({ header: false }))", r#"[["1"]]"#),
            ("csv.stringify([[1]], spy({}))", r#""1\n""#),
            ("html.tables('', spy({}))", "[]"),
            ("html.links('', spy({}))", "[]"),
            ("html.select('', 'a', spy({}))", "[]"),
            (
                "read.join()",
                r#""header,delimiter,quote,trim,header,delimiter,quote,quoteAll,selector,header,base,limit""#,
            ),
            ("csv.parse('1', { get header() { throw new RangeError() } })", r#"["RangeError"]"#),
            ("yaml.stringify({ toJSON() { return { x: 1 } } })", r#""x: 1\n""#),
            ("yaml.stringify({ get a() { throw new RangeError() } })", r#"["RangeError"]"#),
        ],
    );
}

#[test]
fn only_what_is_granted_is_there() {
    let mut some = job(
        Entry::Body,
        "return [Object.keys(safety), Object.keys(safety.parser), typeof safety.parser.csv.parse]",
    );
    some.globals = vec!["safety.parser.csv".to_owned(), "safety.parser.xml".to_owned()];
    gives_for(some, r#"[["parser"],["xml","csv"],"function"]"#);
    let mut none = job(Entry::Body, "return typeof safety");
    none.globals = Vec::new();
    gives_for(none, r#""undefined""#);
}

#[test]
fn what_is_parsed_counts_as_the_guests_memory() {
    let mut small = job(Entry::Body, "return safety.parser.html.text('x '.repeat(400000)).length");
    small.limits.memory = 1 << 20;
    assert!(matches!(run(small).given, Given::Trouble(_)));
}
