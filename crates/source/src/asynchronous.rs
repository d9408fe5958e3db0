//! Async syntax, where there are no promises: every place of it. It says nothing of the name `Promise`.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, ForOfStatement, Function, VariableDeclaration,
    VariableDeclarationKind,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_syntax::scope::ScopeFlags;

use crate::names::{ASYNC, AWAIT, Blocked, FOR_AWAIT};
use crate::parse::Unit;
use crate::{SourceError, SourceErrorKind};

/// Every place of async syntax.
pub(crate) fn places(unit: &Unit<'_, '_>) -> Vec<(u32, Blocked)> {
    let mut finder = Finder { places: Vec::new() };
    finder.visit_program(unit.program);
    finder.places
}

/// Refuses a source with async syntax.
pub(crate) fn refuse(unit: &Unit<'_, '_>) -> Result<(), SourceError> {
    match places(unit).into_iter().min_by_key(|(offset, _)| *offset) {
        None => Ok(()),
        Some((offset, Blocked { name, why, instead })) => Err(unit.error(
            SourceErrorKind::Syntax,
            offset,
            format!("`{name}` does not exist here: {why}; {instead}"),
        )),
    }
}

struct Finder {
    places: Vec<(u32, Blocked)>,
}

impl<'a> VisitJs<'a> for Finder {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.r#async {
            self.places.push((it.span.start, ASYNC));
        }
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if it.r#async {
            self.places.push((it.span.start, ASYNC));
        }
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.places.push((it.span.start, AWAIT));
        walk_js::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.places.push((it.span.start, FOR_AWAIT));
        }
        walk_js::walk_for_of_statement(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind == VariableDeclarationKind::AwaitUsing {
            self.places.push((it.span.start, AWAIT));
        }
        walk_js::walk_variable_declaration(self, it);
    }
}
