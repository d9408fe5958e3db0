//! Failures for people and for machines: what happened, where, and what to do next.

use bailiwick_config::{ConfigError, SettingProblem};
use bailiwick_core::{Fault, Refusal};
use bailiwick_document::Problems;
use bailiwick_policy::{Conflicts, Source};
use serde_json::{Value, json};

use super::{bad, faint, plain, strong, to_stderr};
use crate::failure::Failure;

/// One mistake, whatever it came from.
struct Told {
    kind: Option<&'static str>,
    message: String,
    hint: Option<String>,
    sources: Vec<Place>,
}

/// Where a mistake is.
struct Place {
    layer: Option<String>,
    document: String,
    line: Option<u32>,
    column: Option<u32>,
    path: String,
}

/// Tells a failure on stderr.
pub(super) fn tell(failure: &Failure, quiet: bool) {
    tell_all(told(failure), quiet);
}

/// Tells a refusal on stderr, with every mistake behind it.
pub(super) fn tell_refusal(refusal: &Refusal, quiet: bool) {
    tell_all(of_refusal(refusal), quiet);
}

fn tell_all(all: Vec<Told>, quiet: bool) {
    for Told { kind: _, message, hint, sources } in all {
        to_stderr(&[bad("error: "), strong(&message)]);
        for Place { layer, document, line, column, path } in &sources {
            let mut at = document.clone();
            if let (Some(line), Some(column)) = (line, column) {
                at = format!("{at}:{line}:{column}");
            }
            let path = if path.is_empty() { String::new() } else { format!("  {path}") };
            let layer = layer.as_ref().map_or_else(String::new, |layer| format!("  [{layer}]"));
            to_stderr(&[faint("  --> "), plain(&at), faint(&path), faint(&layer)]);
        }
        if let Some(hint) = hint.filter(|_| !quiet) {
            to_stderr(&[strong("  hint: "), plain(&hint)]);
        }
    }
}

/// A failure as JSON.
pub(super) fn to_json(failure: &Failure) -> Value {
    let told = match failure {
        // The whole is the message; its mistakes are the problems.
        Failure::Refused(refusal) if !refusal.faults.is_empty() => {
            refusal.faults.iter().map(of_fault).collect()
        }
        other => told(other),
    };
    let message = match told.as_slice() {
        // It speaks for all the mistakes behind it.
        _ if matches!(failure, Failure::Refused(_)) => failure.to_string(),
        [] => failure.to_string(),
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
    };
    let hint = told.first().and_then(|told| told.hint.clone());
    let problems: Vec<Value> = told
        .iter()
        .map(|Told { kind, message, hint, sources }| {
            let sources: Vec<Value> = sources
                .iter()
                .map(|Place { layer, document, line, column, path }| {
                    json!({"layer": layer, "document": document, "line": line, "column": column, "path": path})
                })
                .collect();
            json!({"kind": kind, "message": message, "hint": hint, "sources": sources})
        })
        .collect();
    json!({"ok": false, "error": {"code": failure.code(), "message": message, "hint": hint, "problems": problems}})
}

/// The mistakes behind a failure, all in one shape.
fn told(failure: &Failure) -> Vec<Told> {
    match failure {
        Failure::Document(problems) | Failure::Config(ConfigError::Document(problems)) => {
            of_document(problems)
        }
        Failure::Conflicts(conflicts) | Failure::Config(ConfigError::Profiles(conflicts)) => {
            of_conflicts(conflicts)
        }
        Failure::Config(ConfigError::Settings(problems)) => problems
            .iter()
            .map(|SettingProblem { message, hint }| Told {
                kind: None,
                message: message.clone(),
                hint: Some(hint.clone()),
                sources: Vec::new(),
            })
            .collect(),
        Failure::Refused(refusal) => of_refusal(refusal),
        other => {
            vec![Told { kind: None, message: other.to_string(), hint: other.hint(), sources: Vec::new() }]
        }
    }
}

fn of_document(problems: &Problems) -> Vec<Told> {
    problems
        .list
        .iter()
        .map(|problem| Told {
            kind: None,
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            sources: vec![Place {
                layer: None,
                document: problems.document.clone(),
                line: problem.place.map(|place| place.line),
                column: problem.place.map(|place| place.column),
                path: problem.path.to_string(),
            }],
        })
        .collect()
}

/// What was refused, then each mistake behind it.
fn of_refusal(refusal: &Refusal) -> Vec<Told> {
    let Refusal { code: _, message, hint, faults } = refusal;
    // A hint that a mistake brings along is told there.
    let hint = hint.clone().filter(|hint| !faults.iter().any(|fault| fault.hint.as_ref() == Some(hint)));
    let whole = Told { kind: None, message: message.clone(), hint, sources: Vec::new() };
    std::iter::once(whole).chain(faults.iter().map(of_fault)).collect()
}

fn of_fault(fault: &Fault) -> Told {
    let Fault { document, path, line, column, message, hint } = fault;
    let place = Place {
        layer: None,
        document: document.clone(),
        line: (*line > 0).then_some(*line),
        column: (*line > 0).then_some(*column),
        path: path.clone(),
    };
    Told { kind: None, message: message.clone(), hint: hint.clone(), sources: vec![place] }
}

fn of_conflicts(conflicts: &Conflicts) -> Vec<Told> {
    let mut told: Vec<Told> = conflicts
        .list
        .iter()
        .map(|conflict| Told {
            kind: Some(conflict.kind.word()),
            message: conflict.message.clone(),
            hint: conflict.hint.clone(),
            sources: conflict.sources.iter().map(place_of).collect(),
        })
        .collect();
    if conflicts.untold > 0 {
        let message = format!("and {} more conflicts like these", conflicts.untold);
        told.push(Told { kind: None, message, hint: None, sources: Vec::new() });
    }
    told
}

fn place_of(source: &Source) -> Place {
    let Source { layer, document, place, path } = source;
    Place {
        layer: Some(layer.to_string()),
        document: document.to_string(),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        path: path.to_string(),
    }
}
