//! What is left after types are gone means what it meant: the same calls of the same things, in the same order.

use bailiwick_wire::{Entry, Language};
use oxc_ast::ast::{
    ArrowFunctionExpression, BlockStatement, CallExpression, ClassElement, ComputedMemberExpression,
    Function, IdentifierReference, ObjectExpression, Statement, TaggedTemplateExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;
use proptest::prelude::*;

use crate::canvas::Canvas;
use crate::{parse, strip, strip_types};

/// The outline of a source without its types, or nothing where it has none.
fn outline(source: &str, language: Language) -> Option<Vec<String>> {
    let outlined = parse::with(source, Entry::Body, language, |unit| {
        let canvas = strip::erase(unit)?;
        let mut outline = Outline { canvas: &canvas, seen: Vec::new() };
        outline.visit_program(unit.program);
        Ok(outline.seen)
    });
    outlined.ok()
}

struct Outline<'c, 'a> {
    canvas: &'c Canvas<'a>,
    seen: Vec<String>,
}

impl Outline<'_, '_> {
    fn saw(&mut self, what: &str) {
        self.seen.push(what.to_owned());
    }
}

impl<'a> VisitJs<'a> for Outline<'_, 'a> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !self.canvas.is_erased(it.span().start) {
            walk_js::walk_statement(self, it);
        }
    }
    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        if !self.canvas.is_erased(it.span().start) {
            self.saw("member");
            walk_js::walk_class_element(self, it);
        }
    }
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.seen.push(format!("{}@{}", it.name, it.span.start));
    }
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.saw("call");
        walk_js::walk_call_expression(self, it);
    }
    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.saw("tag");
        walk_js::walk_tagged_template_expression(self, it);
    }
    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        self.saw("member of");
        walk_js::walk_computed_member_expression(self, it);
    }
    fn visit_object_expression(&mut self, it: &ObjectExpression<'a>) {
        self.saw("object");
        walk_js::walk_object_expression(self, it);
    }
    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        self.saw("block");
        walk_js::walk_block_statement(self, it);
    }
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.saw(if it.r#async { "async function" } else { "function" });
        walk_js::walk_function(self, it, flags);
    }
    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.saw(if it.r#async { "async arrow" } else { "arrow" });
        walk_js::walk_arrow_function_expression(self, it);
    }
}

/// Pieces that hang together often enough to make programs.
const PIECES: &[&str] = &[
    "a",
    "(b)",
    "[c]",
    "{d}",
    "`e`",
    "f(g)",
    "x = y",
    "x = y as T",
    "a as T",
    "a!",
    "a satisfies T",
    "<T>(a)",
    "<T>{a}",
    "type A = B",
    "interface A { b: C }",
    "declare let q: T",
    "let v: T",
    "let w = a",
    "let z = a as T",
    "return",
    "return a",
    "return <T>a",
    "throw a as T",
    "function f(a: T): U;\nfunction f(a) {}",
    "class K { x: T\n",
    "private ['y'] = a",
    "public *g() {}",
    "get: T\n",
    "m(): void\n",
    "declare n: T\n",
    "x = a as T\n",
    "static s?: T\n",
    "}",
    "{",
    "()=>",
    "() => a as T",
    "(a: T): U => a",
    "(a):\nT => a",
    "async <\nT>(a) => a",
    "() => <T>{}",
    "if (a)",
    "else",
    "do",
    "while (a)",
    "a<T>",
    "f<T>(a)",
    "new K<T>",
    "++a",
    "/r/g",
    "+ a",
    ", a",
    ".b",
    "? a : b",
    "enum",
    "'s'",
    "for (const i of a as T)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn stripping_changes_no_meaning(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 1..5),
        separators in proptest::collection::vec(proptest::sample::select(&["\n", " ", ";", ";\n"][..]), 6),
    ) {
        let joined = pieces.iter().zip(&separators).map(|(piece, separator)| format!("{piece}{separator}"));
        let source: String = joined.collect();
        if let (Some(before), Ok(stripped)) =
            (outline(&source, Language::TypeScript), strip_types(&source, Entry::Body))
        {
            prop_assert_eq!(Some(before), outline(&stripped, Language::JavaScript), "{} became {}", source, stripped);
        }
    }
}
