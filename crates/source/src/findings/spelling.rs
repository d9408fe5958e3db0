//! Names that are spelt in pieces: folds what is constant by its form alone, and gives up on the rest.

use oxc_ast::ast::{BindingPattern, Expression, PropertyKey};
use oxc_syntax::operator::BinaryOperator;

/// The longest name that is folded; a longer one is no name.
const LONGEST: usize = 256;

/// The text that an expression is, if its form says so: `"a"`, `` `a` ``, `"a" + "b"`, `` `a${"b"}` ``.
pub(super) fn fold(expression: &Expression<'_>) -> Option<String> {
    let folded = match expression {
        Expression::StringLiteral(string) => string.value.to_string(),
        Expression::NumericLiteral(number) => number.value.to_string(),
        Expression::TemplateLiteral(template) => {
            let mut text = String::new();
            let mut expressions = template.expressions.iter();
            for quasi in &template.quasis {
                text.push_str(quasi.value.cooked.as_ref()?.as_str());
                if let Some(expression) = expressions.next() {
                    text.push_str(&fold(expression)?);
                }
            }
            text
        }
        Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
            fold(&binary.left)? + &fold(&binary.right)?
        }
        other => return fold(inner(other)?),
    };
    (folded.len() <= LONGEST).then_some(folded)
}

/// The name of a property, if its form says so.
pub(super) fn key_name(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
        PropertyKey::PrivateIdentifier(_) => None,
        other => fold(other.as_expression()?),
    }
}

/// The properties that a pattern takes out of an object, and where.
pub(super) fn taken(pattern: &BindingPattern<'_>) -> Vec<(String, u32)> {
    use oxc_span::GetSpan;
    let BindingPattern::ObjectPattern(pattern) = pattern else { return Vec::new() };
    let names =
        pattern.properties.iter().map(|property| (key_name(&property.key), property.key.span().start));
    names.filter_map(|(name, at)| Some((name?, at))).collect()
}

/// What is inside parentheses and types.
fn inner<'e, 'a>(expression: &'e Expression<'a>) -> Option<&'e Expression<'a>> {
    match expression {
        Expression::ParenthesizedExpression(inside) => Some(&inside.expression),
        Expression::TSAsExpression(inside) => Some(&inside.expression),
        Expression::TSSatisfiesExpression(inside) => Some(&inside.expression),
        Expression::TSTypeAssertion(inside) => Some(&inside.expression),
        Expression::TSNonNullExpression(inside) => Some(&inside.expression),
        _ => None,
    }
}

/// An expression without the parentheses and types around it.
pub(super) fn bare<'e, 'a>(expression: &'e Expression<'a>) -> &'e Expression<'a> {
    let mut expression = expression;
    while let Some(inside) = inner(expression) {
        expression = inside;
    }
    expression
}
