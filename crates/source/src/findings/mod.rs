//! Validation: what in a source cannot work under a policy. It helps authors and is no wall: everything it can miss is
//! absent at run time, so it looks for what people write, not for every way to hide it.
//!
//! A name counts only where it is a *global*: strings, comments, the author's own properties, locals, parameters,
//! labels and types are nobody's business. Start reading at [`Finder`]; `spelling` folds computed names, `reach` sees
//! the global object and the constructors of functions.

mod reach;
mod spelling;
mod walk;

use std::collections::{BTreeSet, HashSet};

use bailiwick_wire::{Entry, Finding, Severity};
use oxc_ast::ast::IdentifierReference;
use oxc_ast_visit::VisitJs;
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::LabeledSpan;
use oxc_syntax::symbol::{SymbolFlags, SymbolId};

use crate::canvas::Canvas;
use crate::names::{self, Blocked};
use crate::parse::Unit;
use crate::{SourceError, SourceErrorKind, asynchronous};

/// The most findings that are told of one source.
pub const MOST_FINDINGS: usize = 100;

/// The findings of a source, in the order of the text. `erased` has its types painted over.
pub(crate) fn find<'a>(
    unit: &Unit<'_, 'a>,
    granted: &[String],
    erased: &Canvas<'a>,
) -> Result<Vec<Finding>, SourceError> {
    let built = SemanticBuilder::new().with_check_syntax_error(true).build(unit.program);
    let scoping = built.semantic.scoping();
    let is_framed = matches!(unit.entry, Entry::Body | Entry::Expression);
    let mut finder = Finder {
        unit,
        scoping,
        granted,
        erased,
        found: Vec::new(),
        tested: HashSet::new(),
        own: own_globals(scoping),
        modules: BTreeSet::new(),
        commands: HashSet::new(),
        functions_around: 0,
        functions_of_frame: u32::from(is_framed),
        withs_around: 0,
    };
    finder.visit_program(unit.program);
    if unit.entry == Entry::Emit {
        for (offset, blocked) in asynchronous::places(unit) {
            finder.tell(blocked, offset, Severity::Error);
        }
    }
    for diagnostic in built.diagnostics.errors() {
        let offset = diagnostic.labels.first().map(LabeledSpan::offset);
        // Module syntax is told as a finding, with what to do about it; what is wrong with a type harms nobody.
        if offset.is_none_or(|offset| !finder.modules.contains(&offset) && !erased.is_blank(offset)) {
            let message = diagnostic.message.to_string();
            let at = offset.unwrap_or(unit.author_span().start);
            return Err(unit.error(SourceErrorKind::Syntax, at, message));
        }
    }
    Ok(finder.finish())
}

/// The globals that the author makes: `tools = {}`.
fn own_globals(scoping: &Scoping) -> HashSet<String> {
    let unresolved = scoping.root_unresolved_references();
    let written = unresolved.iter().filter(|(_, references)| {
        references.iter().any(|reference| {
            let reference = scoping.get_reference(*reference);
            reference.is_write() && !reference.is_read()
        })
    });
    written.map(|(name, _)| name.to_string()).collect()
}

/// The walk.
struct Finder<'s, 'u, 'a> {
    unit: &'s Unit<'u, 'a>,
    scoping: &'s Scoping,
    granted: &'s [String],
    erased: &'s Canvas<'a>,
    found: Vec<Found>,
    /// Names that a `typeof` asks about: what stands behind the question is not reached.
    tested: HashSet<String>,
    own: HashSet<String>,
    /// Where module syntax begins.
    modules: BTreeSet<u32>,
    /// Variables that hold `require("child_process")`.
    commands: HashSet<SymbolId>,
    functions_around: u32,
    functions_of_frame: u32,
    withs_around: u32,
}

struct Found {
    offset: u32,
    blocked: Blocked,
    severity: Severity,
}

impl<'a> Finder<'_, '_, 'a> {
    /// Tells of a place.
    fn tell(&mut self, blocked: Blocked, offset: u32, severity: Severity) {
        self.found.push(Found { offset, blocked, severity });
    }

    /// Tells of a global's name if it is one that is absent.
    fn tell_name(&mut self, name: &str, offset: u32) {
        let Some(blocked) = names::entry(name, self.unit.entry == Entry::Emit) else { return };
        if self.is_granted(name) || self.own.contains(name) {
            return;
        }
        // What an object around it brings is known only when it runs.
        let severity = if self.withs_around > 0 { Severity::Warning } else { Severity::Error };
        self.tell(blocked, offset, severity);
    }

    /// Whether a name, or a part of it, is granted.
    fn is_granted(&self, name: &str) -> bool {
        self.granted.iter().any(|granted| {
            granted == name || granted.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// The name of a reference to nothing that the author declared.
    fn global_name<'n>(&self, reference: &'n IdentifierReference<'a>) -> Option<&'n str> {
        let is_local = self.symbol(reference).is_some_and(|symbol| {
            // `declare` and `import type` declare nothing that exists when the code runs.
            let flags = self.scoping.symbol_flags(symbol);
            !flags.intersects(SymbolFlags::Ambient | SymbolFlags::TypeImport)
        });
        (!is_local).then(|| reference.name.as_str())
    }

    fn symbol(&self, reference: &IdentifierReference<'a>) -> Option<SymbolId> {
        self.scoping.get_reference(reference.reference_id.get()?).symbol_id()
    }

    /// The findings: sorted by place, each once, not too many.
    fn finish(self) -> Vec<Finding> {
        let lines = self.unit.lines();
        let mut found = self.found;
        found.sort_by_key(|found| (found.offset, found.blocked.name));
        found.dedup_by_key(|found| (found.offset, found.blocked.name));
        found.truncate(MOST_FINDINGS);
        let findings = found.into_iter().map(|Found { offset, blocked, severity }| Finding {
            name: blocked.name.to_owned(),
            why: blocked.why.to_owned(),
            instead: blocked.instead.to_owned(),
            location: lines.location(self.unit.offset_in_source(offset)),
            severity: if self.tested.contains(blocked.name) { Severity::Warning } else { severity },
        });
        findings.collect()
    }
}
