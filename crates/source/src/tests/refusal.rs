use bailiwick_types::Location;
use bailiwick_wire::{Entry, Language};

use crate::{SourceErrorKind, strip_types, validate};

#[track_caller]
fn check_in(entry: Entry, source: &str, kind: SourceErrorKind, words: &str, line: u32, column: u32) {
    let error = strip_types(source, entry).unwrap_err();
    assert!(error.message.contains(words), "{}", error.message);
    assert_eq!((error.kind, error.location), (kind, Some(Location { line, column })), "{}", error.message);
}

#[track_caller]
fn check(source: &str, words: &str, line: u32, column: u32) {
    check_in(Entry::Body, source, SourceErrorKind::Unerasable, words, line, column);
    let error = validate(source, Entry::Body, Language::TypeScript, &[]).unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::Unerasable, "{}", error.message);
    assert!(error.message.contains("needs code to be generated; only types that can be erased are accepted"));
}

#[test]
fn what_needs_code_is_refused_by_name_and_with_an_alternative() {
    check("enum A { B }", "an enum", 1, 1);
    check("\n  const enum A { B }", "use a const object", 2, 3);
    check("namespace A { export const b = 1 }", "a namespace with values", 1, 1);
    check("class A { constructor(private x: T) {} }", "a parameter property", 1, 23);
    check("class A { constructor(readonly x) {} }", "assign it in the constructor", 1, 23);
    check("@d class A {}", "a decorator", 1, 1);
    check("class A { @d x }", "a decorator", 1, 11);
    check("class A { @d m() {} }", "a decorator", 1, 11);
    check("class A { accessor x = 1 }", "a getter and a setter", 1, 11);
    check("return <T>\nx", "a line break", 1, 8);
    check("'use strict' as any", "directive", 1, 1);
    check("const f = () => <T>{a} || b", "use `as`", 1, 17);
}

#[test]
fn a_cast_that_groups_operands_does_not_parse() {
    // TypeScript reads `((a + b) as number) * c`; without the type it would be another sum.
    let error = strip_types("return a + b as number * c", Entry::Body).unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::Syntax);
}

#[test]
fn module_assignments_are_refused() {
    let kind = SourceErrorKind::Unerasable;
    check_in(Entry::Execute, "export = 1", kind, "`export =`", 1, 1);
    check_in(Entry::Execute, "import fs = require('fs')", kind, "`import =`", 1, 1);
}

#[test]
fn a_text_cannot_leave_its_frame() {
    let kind = SourceErrorKind::Syntax;
    check_in(Entry::Body, "} function g() {", kind, "brace that it did not open", 1, 1);
    check_in(Entry::Body, "a }\n{ b", kind, "brace that it did not open", 1, 3);
    check_in(Entry::Body, "return 1 }", kind, "brace that it did not open", 1, 10);
    check_in(Entry::Body, "é; } x", kind, "brace that it did not open", 1, 4);
    check_in(Entry::Body, "};", kind, "brace that it did not open", 1, 1);
    check_in(Entry::Expression, "1);(2", kind, "not one expression", 1, 2);
    check_in(Entry::Expression, "1) + (2", kind, "not one expression", 1, 2);
    check_in(Entry::Expression, "1).x(2", kind, "not one expression", 1, 2);
    let twice = strip_types("1)}; (async()=>{(2", Entry::Expression);
    assert_eq!(twice.unwrap_err().kind, kind);
    check_in(Entry::Expression, " ", kind, "there is no expression", 1, 1);
}

#[test]
fn syntax_errors_have_the_authors_place() {
    #[track_caller]
    fn check(entry: Entry, source: &str, line: u32, column: u32) {
        for language in [Language::JavaScript, Language::TypeScript, Language::Either] {
            let error = validate(source, entry, language, &[]).unwrap_err();
            assert_eq!(error.kind, SourceErrorKind::Syntax, "{}", error.message);
            assert_eq!(error.location, Some(Location { line, column }), "{}", error.message);
        }
    }
    check(Entry::Body, "let = = 1", 1, 7);
    check(Entry::Body, "\r\n\r\n  let 1", 3, 7);
    check(Entry::Body, "'é😀'; ?", 1, 7);
    check(Entry::Body, "let a; let a", 1, 5);
    check(Entry::Body, "'abc", 1, 1);
    check(Entry::Body, "`abc", 1, 1);
    check(Entry::Body, "/* abc", 1, 1);
    check(Entry::Body, "f(", 1, 3);
    check(Entry::Emit, "return 1", 1, 1);
    check(Entry::Script, "await 1", 1, 1);
    check(Entry::Expression, "1 +", 1, 4);
    check(Entry::Expression, "let x = 1", 1, 5);
}

#[test]
fn javascript_is_not_typescript_unless_it_may_be() {
    let source = "let x: number = 1; return x";
    assert!(validate(source, Entry::Body, Language::JavaScript, &[]).is_err());
    assert_eq!(validate(source, Entry::Body, Language::Either, &[]), Ok(vec![]));
    assert_eq!(validate(source, Entry::Body, Language::TypeScript, &[]), Ok(vec![]));
}

#[test]
fn no_typescript_passes_for_javascript() {
    for source in [
        "class A { private x }",
        "class A { readonly x = 1 }",
        "class A { x: T }",
        "class A { m(); }",
        "class A { declare x }",
        "class A { x? }",
        "class A { constructor(private x) {} }",
        "class A implements B {}",
        "class A<T> {}",
        "abstract class A {}",
        "interface A {}",
        "type A = 1",
        "enum A {}",
        "namespace A {}",
        "declare let x",
        "let x!: T",
        "x!",
        "x as T",
        "x satisfies T",
        "<T>x",
        "function f(this) {}",
        "function f();",
        "function f(x?) {}",
        "function f(): T {}",
        "(x: T) => x",
        "import type A from 'b'",
        "import x = y",
        "export = x",
    ] {
        for entry in [Entry::Body, Entry::Execute] {
            assert!(validate(source, entry, Language::JavaScript, &[]).is_err(), "{source}");
        }
    }
}
