//! The constructs that cannot be erased, and what is said of each. It only words; the walk decides.

use crate::parse::Unit;
use crate::{SourceError, SourceErrorKind};

/// A construct of TypeScript that is more than a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Construct {
    Enum,
    Namespace,
    ParameterProperty,
    ImportEquals,
    ExportEquals,
    Decorator,
    Accessor,
    /// A string that would become a directive.
    Directive,
    /// `return <T>` with a line break before the value.
    CastOverLines,
    /// A cast without which a `{` would open a block, or a word a declaration.
    CastBeforeBrace,
}

impl Construct {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Enum => ("an enum", "use a const object: `const Color = {Red: 0} as const`"),
            Self::Namespace => ("a namespace with values", "use a const object, or functions side by side"),
            Self::ParameterProperty => {
                ("a parameter property", "declare the field and assign it in the constructor")
            }
            Self::ImportEquals => ("`import =`", "write the code into the tool"),
            Self::ExportEquals => ("`export =`", "use `export default`"),
            Self::Decorator => ("a decorator", "call the function on the class or value"),
            Self::Accessor => ("an `accessor` field", "write a getter and a setter"),
            Self::Directive => ("a type on a string that would become a directive", "take the string away"),
            Self::CastOverLines => (
                "a cast with a line break before its value",
                "put the value on the line of the word before it, or use `as`",
            ),
            Self::CastBeforeBrace => {
                ("a cast at the start of this expression", "use `as`, with the value in parentheses")
            }
        }
    }

    pub(super) fn error(self, unit: &Unit<'_, '_>, offset: u32) -> SourceError {
        let (construct, instead) = self.words();
        let message = format!(
            "{construct} needs code to be generated; only types that can be erased are accepted: {instead}"
        );
        unit.error(SourceErrorKind::Unerasable, offset, message)
    }
}
