//! Types in classes: modifiers, signatures, annotations of members. A member is either blanked as a whole or walked.

use oxc_ast::ast::{
    Class, ClassElement, MethodDefinition, MethodDefinitionType, PropertyDefinition, PropertyDefinitionType,
    PropertyKey,
};
use oxc_ast_visit::walk_js;
use oxc_span::{GetSpan, Span};

use super::Stripper;
use super::refuse::Construct;

/// Words before a member's name that mean nothing once types are gone.
const MODIFIERS: &[&str] = &["public", "private", "protected", "readonly", "override", "abstract", "declare"];

impl<'a> Stripper<'_, '_, 'a> {
    /// The head of a class.
    pub(super) fn class(&mut self, class: &Class<'a>) {
        let mut word = self.unit.token(class.span.start);
        if class.r#abstract && self.unit.slice(word) == "abstract" {
            self.canvas.blank(word);
            word = self.unit.token(word.end);
        }
        let mut head_end = class.id.as_ref().map_or(word.end, |id| id.span.end);
        if let Some(parameters) = &class.type_parameters {
            self.canvas.blank(parameters.span);
            head_end = parameters.span.end;
        }
        if let Some(heritage) = &class.heritage {
            self.type_arguments(heritage.type_arguments.as_deref());
            let arguments = heritage.type_arguments.as_ref().map(|arguments| arguments.span.end);
            head_end = arguments.unwrap_or(heritage.expression.span().end);
        }
        if let Some(last) = class.implements.last() {
            self.canvas.blank(Span::new(self.unit.token_start(head_end), last.span.end));
        }
    }

    /// One member.
    pub(super) fn member(&mut self, element: &ClassElement<'a>) {
        match element {
            ClassElement::MethodDefinition(method) => self.method(element, method),
            ClassElement::PropertyDefinition(property) => self.property(element, property),
            ClassElement::AccessorProperty(accessor) => self.refuse(accessor.span, Construct::Accessor),
            ClassElement::TSIndexSignature(signature) => self.canvas.erase(signature.span),
            ClassElement::StaticBlock(_) => walk_js::walk_class_element(self, element),
        }
    }

    fn method(&mut self, element: &ClassElement<'a>, method: &MethodDefinition<'a>) {
        if let Some(decorator) = method.decorators.first() {
            return self.refuse(decorator.span, Construct::Decorator);
        }
        if method.r#type == MethodDefinitionType::TSAbstractMethodDefinition || method.value.body.is_none() {
            return self.canvas.erase(method.span);
        }
        self.modifiers(method.span.start, method.key.span().start);
        if method.optional {
            self.marker(self.name_end(&method.key, method.computed), "?");
        }
        walk_js::walk_class_element(self, element);
    }

    fn property(&mut self, element: &ClassElement<'a>, property: &PropertyDefinition<'a>) {
        if let Some(decorator) = property.decorators.first() {
            return self.refuse(decorator.span, Construct::Decorator);
        }
        if property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition || property.declare {
            return self.canvas.erase(property.span);
        }
        self.modifiers(property.span.start, property.key.span().start);
        let name_end = self.name_end(&property.key, property.computed);
        let mut gap = None;
        if property.optional {
            gap = self.marker(name_end, "?");
        } else if property.definite {
            gap = self.marker(name_end, "!");
        }
        if let Some(annotation) = &property.type_annotation {
            self.canvas.blank(annotation.span);
            gap = gap.or(Some(annotation.span.start));
        }
        // `get: T` and a member on the next line would be a getter.
        if let Some(gap) = gap.filter(|_| property.value.is_none() && is_prefix_word(&property.key)) {
            self.canvas.mark(gap, ';');
        }
        walk_js::walk_class_element(self, element);
    }

    /// Blanks the modifiers of a member, and keeps what is left from growing onto the member before it.
    fn modifiers(&mut self, start: u32, name: u32) {
        let unit = self.unit;
        let mut word = unit.token(start);
        let (mut first_gone, mut first_left) = (None, None);
        while word.start < name && !word.is_empty() {
            if MODIFIERS.contains(&unit.slice(word)) {
                self.canvas.blank(word);
                first_gone = first_gone.or(Some(word.start));
            } else {
                first_left = first_left.or(Some(word));
            }
            word = unit.token(word.end);
        }
        let first_left = first_left.unwrap_or_else(|| unit.token(name));
        let grows = matches!(unit.slice(first_left), "[" | "*" | "in" | "instanceof");
        if let Some(first_gone) = first_gone.filter(|gone| grows && *gone < first_left.start) {
            self.canvas.mark(first_gone, ';');
        }
    }

    /// Where a member's name ends, its bracket included.
    fn name_end(&self, key: &PropertyKey<'a>, computed: bool) -> u32 {
        let end = key.span().end;
        if !computed {
            return end;
        }
        self.unit.next_if(end, "]").map_or(end, |bracket| bracket.end)
    }
}

/// Whether a name would be read as a word before the next member's name.
fn is_prefix_word(key: &PropertyKey<'_>) -> bool {
    match key {
        PropertyKey::StaticIdentifier(name) => {
            matches!(name.name.as_str(), "get" | "set" | "static" | "async")
        }
        _ => false,
    }
}
