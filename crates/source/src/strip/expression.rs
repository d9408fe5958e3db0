//! Types inside expressions: casts before and behind a value. It must never change what a value is.

use oxc_ast::ast::{Expression, TSTypeAssertion};
use oxc_span::{GetSpan, Span};

use super::refuse::Construct;
use super::{Stripper, Trailing};

impl<'a> Stripper<'_, '_, 'a> {
    /// Blanks what stands behind a value: `as T`, `satisfies T`, `<T>`.
    pub(super) fn suffix(&mut self, value_end: u32, end: u32) {
        let start = self.unit.token_start(value_end);
        if start < end {
            self.canvas.blank(Span::new(start, end));
            self.trailing = Some(Trailing { end, semicolon: start });
        }
    }

    /// Blanks the `<T>` of `<T>value`.
    pub(super) fn cast(&mut self, it: &TSTypeAssertion<'a>) {
        let (start, value) = (it.span.start, it.expression.span().start);
        let close = self.unit.next_if(it.type_annotation.span().end, ">");
        let type_end = close.map_or(value, |close| close.end);
        self.canvas.blank(Span::new(start, type_end));
        if self.line_bound == Some(start) {
            if self.unit.has_line_break(start, value) {
                self.refuse(it.span, Construct::CastOverLines);
            }
            // A cast directly within begins where the word's value begins once this one is blank.
            self.line_bound = Some(value);
        }
        let Some(bound) = self.brace_bound.filter(|bound| bound.whole.start == start) else { return };
        if self.is_block_or_declaration(value) {
            // Both take three characters, and no type with its brackets is shorter.
            let filler = match (bound.takes_comma, bound.whole == it.span) {
                (true, _) => "0,",
                (false, true) => "0||",
                (false, false) => return self.refuse(it.span, Construct::CastBeforeBrace),
            };
            if !self.canvas.write(Span::new(start, type_end), filler) {
                self.refuse(it.span, Construct::CastBeforeBrace);
            }
        } else if matches!(it.expression, Expression::TSTypeAssertion(_)) {
            // The inner cast is written over in this one's stead.
            let whole =
                if bound.whole == it.span { it.expression.span() } else { Span::new(value, bound.whole.end) };
            self.brace_bound = Some(super::BraceBound { whole, ..bound });
        }
    }

    /// Whether a value that begins here would be read as a block or a declaration at the start of a statement.
    fn is_block_or_declaration(&self, at: u32) -> bool {
        let first = self.unit.token(at);
        let second = self.unit.slice(self.unit.token(first.end));
        match self.unit.slice(first) {
            "{" | "function" | "class" => true,
            "async" => second == "function",
            "let" => second == "[",
            _ => false,
        }
    }
}

/// The value of an expression without its types. Parentheses stay.
fn bare<'e, 'a>(expression: &'e Expression<'a>) -> &'e Expression<'a> {
    let mut expression = expression;
    loop {
        expression = match expression {
            Expression::TSAsExpression(cast) => &cast.expression,
            Expression::TSSatisfiesExpression(cast) => &cast.expression,
            Expression::TSTypeAssertion(cast) => &cast.expression,
            Expression::TSNonNullExpression(cast) => &cast.expression,
            Expression::TSInstantiationExpression(cast) => &cast.expression,
            other => return other,
        };
    }
}

/// Whether a statement is nothing but a string once its types are gone, and was not before.
pub(super) fn would_be_directive(expression: &Expression<'_>) -> bool {
    let value = bare(expression);
    matches!(value, Expression::StringLiteral(_)) && value.span() != expression.span()
}
