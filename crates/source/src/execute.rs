//! The ways to define `execute`: found, and made the same for the engine.
//!
//! The engine runs the code as a sloppy script and then reads one variable: [`Definition::name`]. It is `execute` where
//! the author chose that name, and another where he exported something by default. Module syntax becomes script
//! without moving anything behind it:
//!
//! | written | becomes |
//! | --- | --- |
//! | `export default function execute(p) {…}` | the function, with blanks before it |
//! | `export default function (p) {…}` | `function execute       (p) {…}` |
//! | `export default async (p) => …` | `var execute = async (p) => …`, which fits into `export default` |
//! | `export default run;` | `run;`, and the name is `run` |
//! | `export function execute`, `export const execute = …` | the declaration, with blanks before it |
//! | `export { run as execute }` | `;`, and the name is `run` |
//!
//! So only the words `async` and `function` of a function without a name change their column, and no error points at
//! them. Where `export` and `default` stand on different lines there is no room for a name, and that is an error.

use bailiwick_wire::{Entry, Language};
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, BindingPattern, Declaration, ExportDefaultDeclaration,
    ExportDefaultDeclarationKind, ExportNamedDeclaration, Expression, Function, ImportOrExportKind,
    Statement, VariableDeclaration,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use crate::canvas::Canvas;
use crate::parse::Unit;
use crate::{SourceError, SourceErrorKind, parse, strip};

const EXECUTE: &str = "execute";

/// Code that defines `execute`, ready for the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecuteForm {
    /// A script with the same lines and columns as the author's text.
    pub code: String,
    /// Where the function is once the script ran.
    pub definition: Definition,
}

/// Where the function is once the script ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The variable to read: an identifier, global, possibly declared by `let` or `const`.
    pub name: String,
    /// How the author defined it.
    pub how: How,
}

/// How `execute` is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum How {
    /// Assigned: `execute = …`, `globalThis.execute = …`.
    Assigned,
    /// Declared: `function execute`, `const execute = …`.
    Declared,
    /// Exported by name.
    Exported,
    /// `export default`.
    ExportedDefault,
}

/// Finds how a source defines `execute`, strips its types and its module syntax.
pub fn execute_form(source: &str, language: Language) -> Result<ExecuteForm, SourceError> {
    parse::with(source, Entry::Execute, language, |unit| {
        let mut canvas = strip::erase(unit)?;
        let definition = define(unit, &mut canvas)?;
        Ok(ExecuteForm { code: canvas.render(unit.author_span()), definition })
    })
}

/// Finds the definition, and paints over the module syntax around it.
pub(crate) fn define<'a>(unit: &Unit<'_, 'a>, canvas: &mut Canvas<'a>) -> Result<Definition, SourceError> {
    let mut search = Search { unit, canvas, found: None };
    for statement in &unit.program.body {
        search.statement(statement)?;
    }
    if let Some(definition) = search.found {
        return Ok(definition);
    }
    let mut nested = Nested { is_assigned: false };
    nested.visit_program(unit.program);
    if nested.is_assigned {
        return Ok(Definition { name: EXECUTE.to_owned(), how: How::Assigned });
    }
    Err(SourceError {
        message: "the code defines no `execute`: write `function execute(params, config) { … }`".to_owned(),
        location: None,
        kind: SourceErrorKind::Rule,
    })
}

struct Search<'s, 'u, 'a> {
    unit: &'s Unit<'u, 'a>,
    canvas: &'s mut Canvas<'a>,
    found: Option<Definition>,
}

impl<'a> Search<'_, '_, 'a> {
    /// The strongest definition counts, and the last of equals.
    fn found(&mut self, name: &str, how: How) {
        if self.found.as_ref().is_none_or(|found| found.how <= how) {
            self.found = Some(Definition { name: name.to_owned(), how });
        }
    }

    fn rule(&self, span: Span, message: &str) -> SourceError {
        self.unit.error(SourceErrorKind::Rule, span.start, message.to_owned())
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Result<(), SourceError> {
        let one_file = "there are no modules: a tool is one file; write the code into the tool";
        match statement {
            Statement::ExportDefaultDeclaration(export) => self.default(export)?,
            Statement::ExportDeclaration(export) => {
                let span = export.declaration.span();
                self.canvas.blank(Span::new(export.span.start, span.start));
                if declares(&export.declaration) {
                    self.found(EXECUTE, How::Exported);
                }
            }
            Statement::ExportNamedDeclaration(export) => self.list(export),
            Statement::ImportDeclaration(import) if import.import_kind == ImportOrExportKind::Value => {
                return Err(self.rule(import.span, one_file));
            }
            Statement::ExportFromDeclaration(export) if export.export_kind == ImportOrExportKind::Value => {
                return Err(self.rule(export.span, one_file));
            }
            Statement::ExportAllDeclaration(export) if export.export_kind == ImportOrExportKind::Value => {
                return Err(self.rule(export.span, one_file));
            }
            Statement::ExpressionStatement(statement) if assigns(&statement.expression) => {
                self.found(EXECUTE, How::Assigned);
            }
            other => {
                if other.as_declaration().is_some_and(declares) {
                    self.found(EXECUTE, How::Declared);
                }
            }
        }
        Ok(())
    }

    /// `export { run as default, execute }`
    fn list(&mut self, export: &ExportNamedDeclaration<'a>) {
        self.canvas.erase(export.span);
        for specifier in &export.specifiers {
            let (local, exported) = (specifier.local.name(), specifier.exported.name());
            if specifier.export_kind == ImportOrExportKind::Type {
                continue;
            }
            match exported.as_str() {
                "default" => self.found(local.as_str(), How::ExportedDefault),
                EXECUTE => self.found(local.as_str(), How::Exported),
                _ => {}
            }
        }
    }

    fn default(&mut self, export: &ExportDefaultDeclaration<'a>) -> Result<(), SourceError> {
        let value = export.declaration.span();
        let words = Span::new(export.span.start, value.start);
        match &export.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Ok(()),
            ExportDefaultDeclarationKind::ClassDeclaration(_) => {
                Err(self.rule(export.span, "`execute` has to be a function, and this is a class"))
            }
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                self.default_function(words, function)
            }
            ExportDefaultDeclarationKind::Identifier(name) => {
                self.canvas.blank(words);
                self.found(name.name.as_str(), How::ExportedDefault);
                Ok(())
            }
            _ => {
                let name = self.free_name();
                self.write(words, &format!("var {name} ="))?;
                self.found(&name, How::ExportedDefault);
                Ok(())
            }
        }
    }

    fn default_function(&mut self, words: Span, function: &Function<'a>) -> Result<(), SourceError> {
        if function.body.is_none() {
            return Ok(());
        }
        if let Some(id) = &function.id {
            self.canvas.blank(words);
            self.found(id.name.as_str(), How::ExportedDefault);
            return Ok(());
        }
        // As an expression it would grow onto a parenthesis on the next line; as a declaration it needs a name.
        let name = self.free_name();
        let is_async = if function.r#async { "async " } else { "" };
        let star = if function.generator { "*" } else { "" };
        let head = Span::new(words.start, function.params.span.start);
        self.write(head, &format!("{is_async}function{star} {name}"))?;
        self.found(&name, How::ExportedDefault);
        Ok(())
    }

    fn write(&mut self, span: Span, text: &str) -> Result<(), SourceError> {
        if self.canvas.write(span, text) {
            return Ok(());
        }
        Err(self.rule(span, "put `export default` and what it exports on one line"))
    }

    /// `execute`, or a name that the code does not use.
    fn free_name(&self) -> String {
        if !self.unit.source().contains(EXECUTE) {
            return EXECUTE.to_owned();
        }
        // There are more numbers than a source can mention.
        let mut names = (0_u32..).map(|number| format!("${number}"));
        names.find(|name| !self.unit.source().contains(name.as_str())).unwrap_or_default()
    }
}

fn declares(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::FunctionDeclaration(function) => {
            function.body.is_some() && function.id.as_ref().is_some_and(|id| id.name == EXECUTE)
        }
        Declaration::VariableDeclaration(variables) => !variables.declare && declares_variable(variables),
        _ => false,
    }
}

fn declares_variable(variables: &VariableDeclaration<'_>) -> bool {
    variables.declarations.iter().any(|declarator| binds(&declarator.id))
}

fn binds(pattern: &BindingPattern<'_>) -> bool {
    pattern.get_binding_identifiers().iter().any(|id| id.name == EXECUTE)
}

fn assigns(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::AssignmentExpression(assignment) => {
            is_execute(&assignment.left) || assigns(&assignment.right)
        }
        Expression::ParenthesizedExpression(inside) => assigns(&inside.expression),
        Expression::SequenceExpression(sequence) => sequence.expressions.iter().any(assigns),
        _ => false,
    }
}

fn is_execute(target: &AssignmentTarget<'_>) -> bool {
    match target {
        AssignmentTarget::AssignmentTargetIdentifier(name) => name.name == EXECUTE,
        AssignmentTarget::StaticMemberExpression(member) => {
            let is_global = match &member.object {
                Expression::Identifier(object) => object.name == "globalThis",
                Expression::ThisExpression(_) => true,
                _ => false,
            };
            member.property.name == EXECUTE && is_global
        }
        _ => false,
    }
}

/// Looks for an assignment inside blocks and functions.
struct Nested {
    is_assigned: bool,
}

impl<'a> VisitJs<'a> for Nested {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.is_assigned |= is_execute(&it.left);
        walk_js::walk_assignment_expression(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        self.is_assigned |= it.kind.is_var() && declares_variable(it);
        walk_js::walk_variable_declaration(self, it);
    }
}
