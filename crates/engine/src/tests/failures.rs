//! What is said about code that fails: in the author's terms and places.

use bailiwick_types::Location;
use bailiwick_wire::{Entry, TroubleKind};

use super::{gives, job, trouble, trouble_of};

#[track_caller]
fn fails_at(entry: Entry, source: &str, message: &str, place: (u32, u32)) {
    let told = trouble_of(job(entry, source));
    assert_eq!(told.message, message, "{source}");
    assert_eq!(told.location, Some(Location { line: place.0, column: place.1 }), "{source}: {told:?}");
}

#[test]
fn an_error_has_the_authors_place() {
    for entry in [Entry::Body, Entry::Emit, Entry::Script] {
        fails_at(entry, "nothing()", "ReferenceError: nothing is not defined", (1, 1));
        fails_at(entry, "\n\n  throw new TypeError('bad')", "TypeError: bad", (3, 13));
        fails_at(entry, "const a = 'é😀'; nothing()", "ReferenceError: nothing is not defined", (1, 18));
        fails_at(
            entry,
            "function f() {\n  g()\n}\nfunction g() { throw new Error('deep') }\nf()",
            "Error: deep",
            (4, 26),
        );
    }
    fails_at(Entry::Expression, "a.b.c", "ReferenceError: a is not defined", (1, 1));
    fails_at(Entry::Expression, "(\n  nothing)", "ReferenceError: nothing is not defined", (2, 3));
    fails_at(
        Entry::Execute,
        "function execute() {\n  nothing }",
        "ReferenceError: nothing is not defined",
        (2, 3),
    );
}

#[test]
fn a_syntax_error_has_the_authors_place() {
    for (source, place) in [
        ("let 1a = 5", (1, 5)),
        ("\n  const = 1", (2, 9)),
        ("let é = 1, x = );", (1, 16)),
        ("if (true) {", (1, 12)),
        ("a b", (1, 3)),
    ] {
        for entry in [Entry::Body, Entry::Emit, Entry::Script] {
            let told = trouble_of(job(entry, source));
            assert_eq!(told.kind, TroubleKind::Syntax, "{source}");
            assert_eq!(
                told.location,
                Some(Location { line: place.0, column: place.1 }),
                "{source}: {told:?}"
            );
        }
    }
}

#[test]
fn a_stack_has_only_the_authors_frames() {
    let told = trouble("function inner() { null.x }\nfunction outer() { [1].map(() => inner()) }\nouter()");
    assert_eq!(
        told.stack.as_deref(),
        Some(
            "    at inner (code:1:20)\n    at <anonymous> (code:2:34)\n    at outer (code:2:24)\n    at <anonymous> (code:3:1)"
        )
    );
    let told = trouble("console.log('%s', { toString() { throw new Error('inside') } })");
    assert_eq!(told.stack.as_deref(), Some("    at toString (code:1:44)\n    at <anonymous> (code:1:9)"));
    let told = trouble(
        "await new Promise(d => setTimeout(d, 1));\nconst f = async () => { await null; null.x };\nawait f()",
    );
    assert!(
        told.stack
            .is_some_and(|stack| stack.starts_with("    at f (code:2:37)") && !stack.contains("bailiwick"))
    );
}

#[test]
fn classes_of_errors_are_told_by_name() {
    for (source, expected) in [
        ("throw new Error('m')", "Error: m"),
        ("throw new RangeError", "RangeError"),
        ("class MyError extends Error {} throw new MyError('m')", "MyError: m"),
        ("class MyError extends Error { name = 'Named' } throw new MyError('m')", "Named: m"),
        ("const e = new Error('m'); e.name = 'Other'; throw e", "Other: m"),
        ("throw new AggregateError([], 'many')", "AggregateError: many"),
        ("null.x", "TypeError: cannot read property 'x' of null"),
        ("const x = 1; x = 2", "TypeError: 'x' is read-only"),
        ("await Promise.reject(new URIError('u'))", "URIError: u"),
    ] {
        assert_eq!(trouble(source).message, expected, "{source}");
    }
}

#[test]
fn a_global_that_is_not_there_is_named() {
    for (source, missing) in [
        ("fetch('x')", Some("fetch")),
        ("new Headers()", Some("Headers")),
        ("process.exit()", Some("process")),
        ("null.x", None),
        ("throw new Error('y is not defined')", None),
    ] {
        assert_eq!(trouble(source).missing.as_deref(), missing, "{source}");
    }
}

#[test]
fn an_error_as_a_guest_sees_it_has_the_authors_place() {
    gives(
        "try { nothing() } catch (e) { return e.stack.split('\\n')[0].trim() }",
        r#""at <anonymous> (code:1:7)""#,
    );
}

#[test]
fn source_with_a_zero_in_it_is_no_trap() {
    assert_eq!(trouble("return 1\0; }").kind, TroubleKind::Syntax);
    gives("return 'a\0b'.length", "3");
}
