//! The walk itself: which node asks which question. It judges nothing.

use bailiwick_wire::{Entry, Severity};
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, BindingPattern, CallExpression, ClassBody, ExportAllDeclaration,
    ExportDeclaration, ExportDefaultDeclaration, ExportFromDeclaration, ExportNamedDeclaration, Expression,
    Function, IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, ImportExpression,
    ImportMeta, MemberExpression, NewExpression, Statement, UnaryExpression, VariableDeclarator,
    WithStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{AssignmentOperator, UnaryOperator};
use oxc_syntax::scope::ScopeFlags;

use super::Finder;
use super::reach::is_child_process_name;
use super::spelling::{bare, taken};
use crate::names::{Blocked, DYNAMIC_IMPORT, EXPORT, EXPORT_FROM, IMPORT, IMPORT_META};

impl Finder<'_, '_, '_> {
    fn module_syntax(&mut self, span: Span, blocked: Blocked) {
        self.modules.insert(span.start);
        self.tell(blocked, span.start, Severity::Error);
    }

    /// An export of the code's own. In `execute` it is one way to define it.
    fn own_export(&mut self, span: Span) {
        if self.unit.entry == Entry::Execute {
            self.modules.insert(span.start);
        } else {
            self.module_syntax(span, EXPORT);
        }
    }
}

impl<'a> VisitJs<'a> for Finder<'_, '_, 'a> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(name) = self.global_name(it) {
            self.tell_name(name, it.span.start);
        }
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Typeof {
            match bare(&it.argument) {
                Expression::Identifier(name) => {
                    if let Some(name) = self.global_name(name) {
                        self.tested.insert(name.to_owned());
                    }
                    return;
                }
                Expression::StaticMemberExpression(member) if self.is_global_object(&member.object) => {
                    self.tested.insert(member.property.name.to_string());
                    return;
                }
                _ => {}
            }
        }
        walk_js::walk_unary_expression(self, it);
    }

    fn visit_member_expression(&mut self, it: &MemberExpression<'a>) {
        self.member(it);
        walk_js::walk_member_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        // `globalThis.tools = {}` makes a global, and reads none.
        let is_made = it.operator == AssignmentOperator::Assign
            && match &it.left {
                AssignmentTarget::StaticMemberExpression(member) => self.is_global_object(&member.object),
                AssignmentTarget::ComputedMemberExpression(member) => self.is_global_object(&member.object),
                _ => false,
            };
        if is_made {
            if let AssignmentTarget::ComputedMemberExpression(member) = &it.left {
                self.visit_expression(&member.expression);
            }
            self.visit_expression(&it.right);
        } else {
            walk_js::walk_assignment_expression(self, it);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.callee(&it.callee, &it.arguments);
        self.reflection(it);
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.callee(&it.callee, &it.arguments);
        walk_js::walk_new_expression(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let Some(value) = &it.init {
            if self.is_global_object(value) {
                for (name, at) in taken(&it.id) {
                    self.tell_name(&name, at);
                }
            }
            if let BindingPattern::BindingIdentifier(variable) = &it.id
                && self.is_command_module(value)
                && let Some(symbol) = variable.symbol_id.get()
            {
                self.commands.insert(symbol);
            }
        }
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions_around += 1;
        walk_js::walk_function(self, it, flags);
        self.functions_around -= 1;
    }

    fn visit_class_body(&mut self, it: &ClassBody<'a>) {
        self.functions_around += 1;
        walk_js::walk_class_body(self, it);
        self.functions_around -= 1;
    }

    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.visit_expression(&it.object);
        self.withs_around += 1;
        self.visit_statement(&it.body);
        self.withs_around -= 1;
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !self.erased.is_erased(it.span().start) {
            walk_js::walk_statement(self, it);
        }
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.tell(DYNAMIC_IMPORT, it.span.start, Severity::Error);
        walk_js::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.modules.insert(it.span.start);
        self.tell(IMPORT_META, it.span.start, Severity::Error);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.module_syntax(it.span, IMPORT);
        if is_child_process_name(it.source.value.as_str()) {
            for specifier in it.specifiers.iter().flatten() {
                let local = match specifier {
                    ImportDeclarationSpecifier::ImportDefaultSpecifier(specifier) => &specifier.local,
                    ImportDeclarationSpecifier::ImportNamespaceSpecifier(specifier) => &specifier.local,
                    ImportDeclarationSpecifier::ImportSpecifier(_) => continue,
                };
                self.commands.extend(local.symbol_id.get());
            }
        }
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.module_syntax(it.span, EXPORT_FROM);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.module_syntax(it.span, EXPORT_FROM);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.own_export(it.span);
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.own_export(it.span);
        walk_js::walk_export_declaration(self, it);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.own_export(it.span);
        walk_js::walk_export_default_declaration(self, it);
    }
}
