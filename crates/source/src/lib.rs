//! The author's source, before it runs: parsed with a real parser, walked for what cannot work, stripped of types.
//!
//! Everything here runs inside a one-shot cell and nowhere else. The parser and the walks recurse, so a source that
//! nests a few thousand levels deep overflows the stack of its process; in a cell that costs the author one call, in a
//! server it would cost everybody. Nothing here panics, keeps state, reads a clock or a file, or decides what is
//! allowed: a finding helps an author, the wall stands elsewhere.
//!
//! Whatever is taken out of a source is replaced by as many blanks, so every token that is left keeps its line and its
//! column, and an error of the engine needs no map to be read.
//!
//! Start reading at [`prepare`], then `parse` (the frame around the author's text), `strip` (types), `findings`
//! (validation), `execute` (the ways to define it), `parameters` (names of variables).

mod asynchronous;
mod canvas;
mod error;
mod execute;
mod findings;
mod lines;
mod names;
mod parameters;
mod parse;
mod strip;

pub use error::{SourceError, SourceErrorKind};
pub use execute::{Definition, ExecuteForm, How, execute_form};
pub use findings::MOST_FINDINGS;
pub use lines::Lines;
pub use parameters::check_parameter_names;

use bailiwick_wire::{Entry, Finding, Language};

/// A source that the engine can compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// JS with the same lines and columns as the author's text.
    pub code: String,
    /// What validation found, in the order of the text; empty unless it was asked for.
    pub findings: Vec<Finding>,
    /// How `execute` is defined; for [`Entry::Execute`] only.
    pub execute: Option<Definition>,
}

/// Makes a source ready for the engine, with one parse (two where JavaScript fails and TypeScript may not).
///
/// `granted` are the global names that the policy grants, dotted where only a part of an object is granted, and
/// the names that the caller binds itself (the parameters and statics of a body). `None` leaves validation out.
///
/// In `emit` async syntax is an error even where validation is left out, since the engine there has no promises to
/// build it on; where it is asked for, each place is a finding.
pub fn prepare(
    source: &str,
    entry: Entry,
    language: Language,
    granted: Option<&[String]>,
) -> Result<Prepared, SourceError> {
    parse::with(source, entry, language, |unit| {
        let mut canvas = strip::erase(unit)?;
        let findings = match granted {
            Some(granted) => findings::find(unit, granted, &canvas)?,
            None => Vec::new(),
        };
        if entry == Entry::Emit && granted.is_none() {
            asynchronous::refuse(unit)?;
        }
        // A module has findings already and will not run, so its shape is not judged on top of them.
        let is_blocked =
            findings.iter().any(|finding| finding.name == "import" || finding.name == "export from");
        let execute = if entry == Entry::Execute && !is_blocked {
            Some(execute::define(unit, &mut canvas)?)
        } else {
            None
        };
        Ok(Prepared { code: canvas.render(unit.author_span()), findings, execute })
    })
}

/// Replaces every type by blanks, so that each remaining token keeps its line and column.
///
/// The source is read as TypeScript. What needs code to be generated (enums, namespaces with values, parameter
/// properties, `import =`, `export =`, decorators) is an error that names it.
pub fn strip_types(source: &str, entry: Entry) -> Result<String, SourceError> {
    parse::with(source, entry, Language::TypeScript, |unit| {
        if entry == Entry::Emit {
            asynchronous::refuse(unit)?;
        }
        Ok(strip::erase(unit)?.render(unit.author_span()))
    })
}

/// What in a source cannot work under a policy that grants `granted`; see [`prepare`] for what belongs there.
///
/// A source that does not parse, or that needs code to be generated for its types, is an error.
pub fn validate(
    source: &str,
    entry: Entry,
    language: Language,
    granted: &[String],
) -> Result<Vec<Finding>, SourceError> {
    parse::with(source, entry, language, |unit| {
        let canvas = strip::erase(unit)?;
        findings::find(unit, granted, &canvas)
    })
}

#[cfg(test)]
mod tests;
