//! Reaching for what a name would give without the name: through the global object, through the constructor of a
//! function, through `require`.

use bailiwick_wire::Severity;
use oxc_ast::ast::{Argument, CallExpression, Expression, MemberExpression};
use oxc_span::GetSpan;

use super::Finder;
use super::spelling::{bare, fold};
use crate::names::{CONSTRUCTOR, MAYBE_CONSTRUCTOR, UNKNOWN_GLOBAL};

/// The functions of `child_process`.
const COMMANDS: &[&str] = &["exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork"];

/// What `constructor` is when it is the constructor of a thing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// `Function` or a cousin.
    Function,
    /// Something else for certain: `"".constructor`, `this.constructor`.
    Other,
    Unknown,
}

impl<'a> Finder<'_, '_, 'a> {
    /// Whether an expression is the global object.
    pub(super) fn is_global_object(&self, expression: &Expression<'a>) -> bool {
        match bare(expression) {
            Expression::Identifier(name) => {
                matches!(self.global_name(name), Some("globalThis" | "window" | "global" | "self"))
            }
            Expression::ThisExpression(_) => self.functions_around <= self.functions_of_frame,
            // globalThis.globalThis
            Expression::StaticMemberExpression(member) => {
                member.property.name == "globalThis" && self.is_global_object(&member.object)
            }
            _ => false,
        }
    }

    /// Tells of a property that is read from the global object.
    pub(super) fn global_property(&mut self, key: &Expression<'a>, at: u32) {
        match fold(key) {
            Some(name) => self.tell_name(&name, at),
            None if is_symbol(key) => {}
            None => self.tell(UNKNOWN_GLOBAL, at, Severity::Warning),
        }
    }

    /// A member that is read.
    pub(super) fn member(&mut self, member: &MemberExpression<'a>) {
        match member {
            MemberExpression::StaticMemberExpression(member) => {
                let name = member.property.name.as_str();
                if self.is_global_object(&member.object) {
                    self.tell_name(name, member.property.span.start);
                } else if let Expression::Identifier(object) = bare(&member.object)
                    && let Some(object) = self.global_name(object)
                {
                    self.tell_name(&format!("{object}.{name}"), member.span.start);
                }
                if name == "constructor" && self.is_function(&member.object) {
                    self.tell_constructor(member.property.span.start);
                }
            }
            MemberExpression::ComputedMemberExpression(member) => {
                let at = member.expression.span().start;
                if self.is_global_object(&member.object) {
                    self.global_property(&member.expression, at);
                }
                if fold(&member.expression).as_deref() == Some("constructor")
                    && self.is_function(&member.object)
                {
                    self.tell_constructor(at);
                }
            }
            MemberExpression::PrivateFieldExpression(_) => {}
        }
    }

    fn tell_constructor(&mut self, at: u32) {
        if !self.is_granted("Function") && !self.is_granted("eval") {
            self.tell(CONSTRUCTOR, at, Severity::Error);
        }
    }

    /// What a call or `new` calls, and with what.
    pub(super) fn callee(&mut self, callee: &Expression<'a>, arguments: &[Argument<'a>]) {
        let Some((object, name, at)) = named_member(callee) else { return };
        if name == "constructor" {
            match self.made(object) {
                Made::Function => self.tell_constructor(at),
                Made::Unknown if arguments.iter().any(is_text) && !self.is_granted("Function") => {
                    self.tell(MAYBE_CONSTRUCTOR, at, Severity::Warning);
                }
                Made::Unknown | Made::Other => {}
            }
        }
        if COMMANDS.contains(&name.as_str()) && self.is_command_module(object) {
            self.tell_name(&name, at);
        }
    }

    /// `Reflect.get(globalThis, "eval")` and its cousins.
    pub(super) fn reflection(&mut self, call: &CallExpression<'a>) {
        let Some((object, name, _)) = named_member(&call.callee) else { return };
        let Expression::Identifier(object) = bare(object) else { return };
        let is_reading = match self.global_name(object) {
            Some("Reflect") => matches!(name.as_str(), "get" | "getOwnPropertyDescriptor"),
            Some("Object") => name == "getOwnPropertyDescriptor",
            _ => false,
        };
        if let [target, key, ..] = call.arguments.as_slice()
            && is_reading
            && target.as_expression().is_some_and(|target| self.is_global_object(target))
            && let Some(key) = key.as_expression()
        {
            self.global_property(key, key.span().start);
        }
    }

    /// Whether an expression is a function, by its form.
    fn is_function(&self, expression: &Expression<'a>) -> bool {
        match bare(expression) {
            Expression::FunctionExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ClassExpression(_) => true,
            // The prototype of a function has the same constructor.
            Expression::CallExpression(call) => {
                let Some((object, name, _)) = named_member(&call.callee) else { return false };
                let Expression::Identifier(object) = bare(object) else { return false };
                name == "getPrototypeOf"
                    && matches!(self.global_name(object), Some("Object" | "Reflect"))
                    && call
                        .arguments
                        .first()
                        .and_then(Argument::as_expression)
                        .is_some_and(|of| self.is_function(of))
            }
            _ => false,
        }
    }

    fn made(&self, object: &Expression<'a>) -> Made {
        let object = bare(object);
        if self.is_function(object) {
            return Made::Function;
        }
        match object {
            Expression::StringLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::ArrayExpression(_)
            | Expression::ObjectExpression(_)
            | Expression::ThisExpression(_)
            | Expression::Super(_)
            | Expression::NewExpression(_) => Made::Other,
            // A built-in that is a function: Array.constructor("…").
            Expression::Identifier(name) => match self.global_name(name) {
                Some(name) if name.starts_with(|first: char| first.is_ascii_uppercase()) => Made::Function,
                _ => Made::Unknown,
            },
            other => match named_member(other) {
                Some((_, name, _)) if name == "constructor" => Made::Function,
                _ => Made::Unknown,
            },
        }
    }

    /// Whether an expression is `require("child_process")`, or a variable that holds it.
    pub(super) fn is_command_module(&self, expression: &Expression<'a>) -> bool {
        match bare(expression) {
            Expression::Identifier(name) => {
                self.symbol(name).is_some_and(|symbol| self.commands.contains(&symbol))
            }
            Expression::AwaitExpression(awaited) => self.is_command_module(&awaited.argument),
            Expression::ImportExpression(import) => is_child_process(&import.source),
            Expression::CallExpression(call) => {
                let Expression::Identifier(name) = bare(&call.callee) else { return false };
                let module = call.arguments.first().and_then(Argument::as_expression);
                self.global_name(name) == Some("require") && module.is_some_and(is_child_process)
            }
            _ => false,
        }
    }
}

/// The object, the name and the place of the name of a member, if the form says the name.
fn named_member<'e, 'a>(expression: &'e Expression<'a>) -> Option<(&'e Expression<'a>, String, u32)> {
    match bare(expression) {
        Expression::StaticMemberExpression(member) => {
            Some((&member.object, member.property.name.to_string(), member.property.span.start))
        }
        Expression::ComputedMemberExpression(member) => {
            Some((&member.object, fold(&member.expression)?, member.expression.span().start))
        }
        _ => None,
    }
}

pub(super) fn is_child_process_name(name: &str) -> bool {
    name == "child_process" || name == "node:child_process"
}

fn is_child_process(expression: &Expression<'_>) -> bool {
    fold(expression).is_some_and(|name| is_child_process_name(&name))
}

/// Whether an argument is a text by its form.
fn is_text(argument: &Argument<'_>) -> bool {
    let Some(expression) = argument.as_expression() else { return false };
    matches!(bare(expression), Expression::TemplateLiteral(_)) || fold(expression).is_some()
}

/// `globalThis[Symbol.toStringTag]` names no global.
fn is_symbol(expression: &Expression<'_>) -> bool {
    match bare(expression) {
        Expression::StaticMemberExpression(member) => {
            matches!(bare(&member.object), Expression::Identifier(name) if name.name == "Symbol")
        }
        _ => false,
    }
}
