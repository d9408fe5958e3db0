//! Types out, blanks in. A type is never rewritten, only painted over; what would need code in its place is refused.
//!
//! Taking a type away can change how the rest is read: a line that no longer ends, a `{` that now opens a block. Each
//! such place is mended with characters of the type that was there, so that no token moves:
//! - a statement or class member that goes leaves a `;`, so that its neighbours do not grow together;
//! - `x as T` at the end of a statement without semicolon leaves one;
//! - an arrow whose return type spans lines takes its `)` along to the arrow's line;
//! - `<T>{…}` where a block could begin becomes `0||{…}` or `0,{…}`.
//!
//! Start reading at [`Stripper`]; `class` has the members of classes, `statement` what goes as a whole, `refuse` what
//! cannot go.

mod class;
mod expression;
mod refuse;
mod statement;

use bailiwick_wire::Language;
use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, CallExpression, CatchParameter, Class, ClassElement,
    Decorator, ExportDefaultDeclaration, ExpressionStatement, FormalParameter, FormalParameterRest, Function,
    NewExpression, ReturnStatement, Statement, TSAsExpression, TSInstantiationExpression,
    TSNonNullExpression, TSSatisfiesExpression, TSTypeAnnotation, TSTypeAssertion,
    TSTypeParameterDeclaration, TSTypeParameterInstantiation, TaggedTemplateExpression, ThrowStatement,
    VariableDeclarator, YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::canvas::Canvas;
use crate::parse::Unit;
use crate::{SourceError, SourceErrorKind};
use refuse::Construct;

/// Paints over every type of a source.
pub(crate) fn erase<'a>(unit: &Unit<'_, 'a>) -> Result<Canvas<'a>, SourceError> {
    let mut stripper = Stripper {
        unit,
        canvas: Canvas::new(unit.text),
        error: None,
        line_bound: None,
        brace_bound: None,
        trailing: None,
    };
    stripper.visit_program(unit.program);
    if let Some(error) = stripper.error {
        return Err(error);
    }
    // The parser lets some types pass in JavaScript.
    if let (Language::JavaScript, Some(first)) = (unit.language, stripper.canvas.first_blank()) {
        let message = "this is TypeScript, and the code is said to be JavaScript".to_owned();
        return Err(unit.error(SourceErrorKind::Syntax, first, message));
    }
    Ok(stripper.canvas)
}

/// The walk that finds the types.
struct Stripper<'s, 'u, 'a> {
    unit: &'s Unit<'u, 'a>,
    canvas: Canvas<'a>,
    /// The first construct that cannot be erased.
    error: Option<SourceError>,
    /// Where an expression begins that has to begin on the line of the word before it (`return`, `throw`, `yield`).
    line_bound: Option<u32>,
    /// An expression that must not begin with a brace or a declaration's word.
    brace_bound: Option<BraceBound>,
    /// The last type at the end of an expression: where it ends, and where a semicolon would go.
    trailing: Option<Trailing>,
}

#[derive(Clone, Copy)]
struct BraceBound {
    whole: Span,
    /// Whether a comma may stand in it.
    takes_comma: bool,
}

#[derive(Clone, Copy)]
struct Trailing {
    end: u32,
    semicolon: u32,
}

impl<'a> Stripper<'_, '_, 'a> {
    fn refuse(&mut self, span: Span, construct: Construct) {
        if self.error.is_none() {
            self.error = Some(construct.error(self.unit, span.start));
        }
    }

    fn annotation(&mut self, annotation: Option<&TSTypeAnnotation<'a>>) {
        if let Some(annotation) = annotation {
            self.canvas.blank(annotation.span);
        }
    }

    fn type_parameters(&mut self, parameters: Option<&TSTypeParameterDeclaration<'a>>) {
        if let Some(parameters) = parameters {
            self.canvas.blank(parameters.span);
        }
    }

    fn type_arguments(&mut self, arguments: Option<&TSTypeParameterInstantiation<'a>>) {
        if let Some(arguments) = arguments {
            self.canvas.blank(arguments.span);
        }
    }

    /// Blanks the next token if it is this one, and gives where it was.
    fn marker(&mut self, after: u32, token: &str) -> Option<u32> {
        let span = self.unit.next_if(after, token)?;
        self.canvas.blank(span);
        Some(span.start)
    }

    /// Blanks a span and the comma behind it.
    fn with_comma(&mut self, span: Span) {
        self.canvas.blank(span);
        self.marker(span.end, ",");
    }

    /// Ends a statement or member whose own end was a type.
    fn close(&mut self, end: u32) {
        if let Some(trailing) = self.trailing.filter(|trailing| trailing.end == end) {
            self.canvas.mark(trailing.semicolon, ';');
        }
    }

    /// Moves the `)` of an arrow's parameters behind its return type if a line ends between them.
    fn arrow_return(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        let Some(annotation) = &arrow.return_type else { return };
        self.canvas.blank(annotation.span);
        let close = arrow.params.span.end.saturating_sub(1);
        if !self.unit.has_line_break(close, annotation.span.end) {
            return;
        }
        if let Some(last) = self.unit.slice(annotation.span).chars().next_back() {
            let width = u32::try_from(last.len_utf8()).unwrap_or(1);
            self.canvas.mark(close, ' ');
            self.canvas.mark(annotation.span.end.saturating_sub(width), ')');
        }
    }

    /// Moves the `(` of an arrow's parameters before its type parameters if a line ends between them and must not.
    fn arrow_generics(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        let Some(parameters) = &arrow.type_parameters else { return };
        self.canvas.blank(parameters.span);
        let open = arrow.params.span.start;
        let is_bound = arrow.r#async || self.line_bound == Some(arrow.span.start);
        if is_bound && self.unit.has_line_break(parameters.span.start, open) {
            self.canvas.mark(parameters.span.start, '(');
            self.canvas.mark(open, ' ');
        }
    }
}

impl<'a> VisitJs<'a> for Stripper<'_, '_, 'a> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.statement(it);
        self.close(it.span().end);
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        if expression::would_be_directive(&it.expression) {
            self.refuse(it.span, Construct::Directive);
        }
        self.brace_bound = Some(BraceBound { whole: it.expression.span(), takes_comma: true });
        walk_js::walk_expression_statement(self, it);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.brace_bound = Some(BraceBound { whole: it.declaration.span(), takes_comma: false });
        walk_js::walk_export_default_declaration(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        self.line_bound = it.argument.as_ref().map(|argument| argument.span().start);
        walk_js::walk_return_statement(self, it);
    }

    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        self.line_bound = Some(it.argument.span().start);
        walk_js::walk_throw_statement(self, it);
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        if let Some(argument) = it.argument.as_ref().filter(|_| !it.delegate) {
            self.line_bound = Some(argument.span().start);
        }
        walk_js::walk_yield_expression(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.marker(it.id.span().end, "!");
        }
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(it.span, Construct::ParameterProperty);
        }
        if it.optional {
            self.marker(it.pattern.span().end, "?");
        }
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_formal_parameter(self, it);
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_formal_parameter_rest(self, it);
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        self.annotation(it.type_annotation.as_deref());
        walk_js::walk_catch_parameter(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.type_parameters(it.type_parameters.as_deref());
        if let Some(this) = &it.this_param {
            self.with_comma(this.span);
        }
        self.annotation(it.return_type.as_deref());
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.arrow_generics(it);
        self.arrow_return(it);
        self.visit_formal_parameters(&it.params);
        if !matches!(it.body, ArrowFunctionBody::FunctionBody(_)) {
            self.brace_bound = Some(BraceBound { whole: it.body.span(), takes_comma: false });
        }
        self.visit_arrow_function_body(&it.body);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
        walk_js::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        self.member(it);
        self.close(it.span().end);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, Construct::Decorator);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.type_arguments(it.type_arguments.as_deref());
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.type_arguments(it.type_arguments.as_deref());
        if let Some(arguments) =
            it.type_arguments.as_ref().filter(|arguments| arguments.span.end == it.span.end)
        {
            self.trailing = Some(Trailing { end: it.span.end, semicolon: arguments.span.start });
        }
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.type_arguments(it.type_arguments.as_deref());
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        walk_js::walk_ts_as_expression(self, it);
        self.suffix(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        walk_js::walk_ts_satisfies_expression(self, it);
        self.suffix(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        walk_js::walk_ts_non_null_expression(self, it);
        self.canvas.blank(Span::new(it.span.end.saturating_sub(1), it.span.end));
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        walk_js::walk_ts_instantiation_expression(self, it);
        self.suffix(it.expression.span().end, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.cast(it);
        walk_js::walk_ts_type_assertion(self, it);
    }
}
