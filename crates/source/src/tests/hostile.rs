use bailiwick_wire::{Entry, Language};
use proptest::prelude::*;

use crate::{SourceErrorKind, check_parameter_names, execute_form, prepare, strip_types, validate};

const ENTRIES: &[Entry] = &[Entry::Body, Entry::Expression, Entry::Execute, Entry::Emit, Entry::Script];
const LANGUAGES: &[Language] = &[Language::JavaScript, Language::TypeScript, Language::Either];

/// Everything that takes a source takes this one, and keeps its shape.
fn survive(source: &str) {
    for entry in ENTRIES {
        if let Ok(stripped) = strip_types(source, *entry) {
            assert_eq!(stripped.chars().count(), source.chars().count());
            let again = prepare(&stripped, *entry, Language::JavaScript, None).map(|prepared| prepared.code);
            // TypeScript lets a module have two defaults until it is checked.
            if again.as_ref().is_err_and(|error| error.kind == SourceErrorKind::Syntax)
                && !source.contains("default")
            {
                panic!("{entry:?} {source:?} became {stripped:?}: {again:?}");
            }
        }
        for language in LANGUAGES {
            if let Ok(found) = validate(source, *entry, *language, &[]) {
                assert!(found.len() <= crate::MOST_FINDINGS);
            }
            let _ = prepare(source, *entry, *language, None);
            let _ = prepare(source, *entry, *language, Some(&["console".to_owned()]));
        }
    }
    for language in LANGUAGES {
        let _ = execute_form(source, *language);
    }
}

#[test]
fn odd_sources_are_survived() {
    for source in [
        "\0",
        "\u{feff}",
        "\u{feff}return 1",
        "#!/bin/sh",
        "<!-- x",
        "-->",
        "'\\ud800'",
        "`\\u{d800}`",
        "'\\udc00\\ud800'",
        "/",
        "/(",
        "/[",
        "/*",
        "//",
        "'",
        "\"",
        "`",
        "`${",
        "${",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "=>",
        "...",
        "?.",
        "#",
        "@",
        "\\",
        "\\u",
        "\\u{",
        "\\u{110000}",
        "0x",
        "0b2",
        "1_",
        "1__0",
        "09",
        "1n.",
        "\u{2028}",
        "\r",
        "😀",
        "'😀",
        "let",
        "class",
        "class {",
        "class A { constructor(",
        "async",
        "async <",
        "await",
        "yield",
        "import",
        "import(",
        "import.",
        "import.meta",
        "export",
        "export default",
        "export default async",
        "export default (",
        "export\ndefault\n()=>1",
        "export {",
        "enum",
        "namespace",
        "type",
        "type A",
        "type A =",
        "interface",
        "declare",
        "abstract",
        "<T",
        "<T>",
        "a as",
        "a satisfies",
        "a!",
        "a!!",
        "x: ",
        "function f(this",
        "function f(this)",
        "function f<",
        "with",
        "with(a)b",
        "new",
        "new.target",
        "super",
        "super()",
        "this",
        "return",
        "return <T",
        "throw",
        "if",
        "for",
        "for await",
        "get",
        "globalThis[",
        "globalThis[`${",
        "Reflect.get(globalThis",
        "x.constructor(",
        "delete x",
        "using x = y",
        "await using x = y",
        "import defer * as a from 'b'",
        "import source a from 'b'",
        "var \u{200c}a",
        "a\u{200d}b",
    ] {
        survive(source);
        survive(&format!("{source}\n{source}"));
        survive(&format!("x {source} y"));
    }
}

#[test]
fn long_lines_are_survived() {
    for source in [
        "a;".repeat(50_000),
        format!("x = [{}]", "1,".repeat(50_000)),
        format!("let x: {}B = 1", "A|".repeat(40_000)),
        format!("'{}'", "é".repeat(50_000)),
        format!("// {}", "x".repeat(100_000)),
        "require(a as B);".repeat(6_000),
    ] {
        let stripped = strip_types(&source, Entry::Body).unwrap();
        assert_eq!(stripped.chars().count(), source.chars().count());
        assert!(
            validate(&source, Entry::Script, Language::Either, &[]).unwrap().len() <= crate::MOST_FINDINGS
        );
    }
}

#[test]
fn a_hundred_findings_are_enough() {
    let source = "require('a');".repeat(5_000);
    assert_eq!(validate(&source, Entry::Body, Language::JavaScript, &[]).unwrap().len(), 100);
}

#[test]
fn modest_nesting_is_survived() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{", "", "}"),
        ("a=>", "1", ""),
        ("!", "1", ""),
        ("`${", "1", "}`"),
        ("f(", "1", ")"),
        ("if(a){", "", "}"),
        ("a?", "1", ":2"),
        ("x=", "1", ""),
        ("function f(){", "", "}"),
        ("<T>", "1", ""),
        ("a[", "1", "]"),
        ("'a'+", "'b'", ""),
        ("class A{static{", "", "}}"),
    ] {
        survive(&format!("{}{middle}{}", open.repeat(100), close.repeat(100)));
    }
    survive(&format!("let x: {}A{}", "Array<".repeat(100), ">".repeat(100)));
    survive(&format!("x{}", " as T".repeat(150)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_is_too_strange(source in "\\PC{0,60}") {
        survive(&source);
    }

    #[test]
    fn no_mix_of_tokens_is_too_strange(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..24)) {
        survive(&words.concat());
        survive(&words.join(" "));
    }

    #[test]
    fn no_name_is_too_strange(names in proptest::collection::vec(".{0,8}", 0..4)) {
        let _ = check_parameter_names(&names, &names);
    }
}

const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "=>",
    "=",
    ";",
    ",",
    ":",
    "?",
    "?.",
    "!",
    ".",
    "...",
    "\n",
    "\r\n",
    "é",
    "😀",
    "a",
    "T",
    "1",
    "'s'",
    "`t`",
    "`${",
    "/r/",
    "//c\n",
    "/*c*/",
    "as",
    "satisfies",
    "type",
    "interface",
    "enum",
    "declare",
    "abstract",
    "class",
    "extends",
    "implements",
    "function",
    "async",
    "await",
    "return",
    "export",
    "default",
    "import",
    "from",
    "const",
    "let",
    "var",
    "if",
    "for",
    "of",
    "new",
    "this",
    "globalThis",
    "eval",
    "require",
    "constructor",
    "private",
    "readonly",
    "static",
    "get",
    "namespace",
    "@",
    "#x",
    "keyof",
    "is",
    "execute",
    "typeof",
    "with",
];
