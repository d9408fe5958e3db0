//! Statements that go as a whole, and the module syntax that carries types. What is left of a statement is walked.

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, ExportSpecifier, ImportDeclarationSpecifier,
    ImportOrExportKind, Statement, TSModuleBlock, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};
use oxc_ast_visit::walk_js;
use oxc_span::{GetSpan, Span};

use super::Stripper;
use super::refuse::Construct;

/// What becomes of a statement.
enum Fate {
    Walk,
    Erase,
    Refuse(Construct, Span),
}

impl<'a> Stripper<'_, '_, 'a> {
    pub(super) fn statement(&mut self, statement: &Statement<'a>) {
        match fate(statement) {
            Fate::Erase => self.canvas.erase(statement.span()),
            Fate::Refuse(construct, span) => self.refuse(span, construct),
            Fate::Walk => {
                self.specifiers(statement);
                walk_js::walk_statement(self, statement);
            }
        }
    }

    /// Blanks `type A` in the lists of imports and exports.
    fn specifiers(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::ImportDeclaration(import) => {
                for specifier in import.specifiers.iter().flatten() {
                    if let ImportDeclarationSpecifier::ImportSpecifier(specifier) = specifier
                        && specifier.import_kind == ImportOrExportKind::Type
                    {
                        self.with_comma(specifier.span);
                    }
                }
            }
            Statement::ExportNamedDeclaration(export) => self.export_specifiers(&export.specifiers),
            Statement::ExportFromDeclaration(export) => self.export_specifiers(&export.specifiers),
            _ => {}
        }
    }

    fn export_specifiers(&mut self, specifiers: &[ExportSpecifier<'a>]) {
        for specifier in specifiers.iter().filter(|one| one.export_kind == ImportOrExportKind::Type) {
            self.with_comma(specifier.span);
        }
    }
}

fn fate(statement: &Statement<'_>) -> Fate {
    let is_type =
        |kind: ImportOrExportKind| if kind == ImportOrExportKind::Type { Fate::Erase } else { Fate::Walk };
    match statement {
        Statement::ImportDeclaration(import) => is_type(import.import_kind),
        Statement::ExportNamedDeclaration(export) => is_type(export.export_kind),
        Statement::ExportFromDeclaration(export) => is_type(export.export_kind),
        Statement::ExportAllDeclaration(export) => is_type(export.export_kind),
        Statement::ExportDeclaration(export) => declaration_fate(&export.declaration),
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Fate::Erase,
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
                Fate::Erase
            }
            _ => Fate::Walk,
        },
        Statement::TSExportAssignment(export) => Fate::Refuse(Construct::ExportEquals, export.span),
        Statement::TSNamespaceExportDeclaration(_) => Fate::Erase,
        other => other.as_declaration().map_or(Fate::Walk, declaration_fate),
    }
}

fn declaration_fate(declaration: &Declaration<'_>) -> Fate {
    let erased_if = |yes: bool| if yes { Fate::Erase } else { Fate::Walk };
    match declaration {
        Declaration::VariableDeclaration(variables) => erased_if(variables.declare),
        Declaration::FunctionDeclaration(function) => erased_if(function.declare || function.body.is_none()),
        Declaration::ClassDeclaration(class) => erased_if(class.declare),
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => Fate::Erase,
        Declaration::TSEnumDeclaration(it) if it.declare => Fate::Erase,
        Declaration::TSEnumDeclaration(it) => Fate::Refuse(Construct::Enum, it.span),
        Declaration::TSNamespaceDeclaration(it) if is_only_types(it) => Fate::Erase,
        Declaration::TSNamespaceDeclaration(it) => Fate::Refuse(Construct::Namespace, it.span),
        Declaration::TSImportEqualsDeclaration(it) if it.import_kind == ImportOrExportKind::Type => {
            Fate::Erase
        }
        Declaration::TSImportEqualsDeclaration(it) => Fate::Refuse(Construct::ImportEquals, it.span),
    }
}

/// Whether nothing of a namespace exists when the code runs.
fn is_only_types(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    namespace.declare
        || match &namespace.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_only_types(inner),
            TSNamespaceDeclarationBody::TSModuleBlock(block) => has_only_types(block),
        }
}

fn has_only_types(block: &TSModuleBlock<'_>) -> bool {
    block.directives.is_empty() && block.body.iter().all(|statement| matches!(fate(statement), Fate::Erase))
}
