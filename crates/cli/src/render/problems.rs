//! Failures for people and for machines: what happened, where, and what to do next.

use bailiwick_config::ConfigError;
use bailiwick_document::Problems;
use bailiwick_policy::{Conflicts, Source};
use serde_json::{Value, json};

use super::{bad, faint, plain, strong, to_stderr};
use crate::failure::Failure;

/// Tells a failure on stderr.
pub(super) fn tell(failure: &Failure, quiet: bool) {
    match failure {
        Failure::Document(problems) | Failure::Config(ConfigError::Document(problems)) => {
            tell_problems(problems, quiet);
        }
        Failure::Conflicts(conflicts) => tell_conflicts(conflicts, quiet),
        other => {
            to_stderr(&[bad("error: "), strong(&other.to_string())]);
            hint(other.hint().as_deref(), quiet);
        }
    }
}

fn tell_problems(problems: &Problems, quiet: bool) {
    for problem in &problems.list {
        to_stderr(&[bad("error: "), strong(&problem.message)]);
        let mut place = problems.document.clone();
        if let Some(at) = problem.place {
            place = format!("{place}:{}:{}", at.line, at.column);
        }
        if problem.path.as_str().is_empty() {
            to_stderr(&[faint("  --> "), plain(&place)]);
        } else {
            to_stderr(&[faint("  --> "), plain(&place), faint("  "), faint(problem.path.as_str())]);
        }
        hint(problem.hint.as_deref(), quiet);
    }
}

fn tell_conflicts(conflicts: &Conflicts, quiet: bool) {
    for conflict in &conflicts.list {
        to_stderr(&[bad("error: "), strong(&conflict.message)]);
        for source in &conflict.sources {
            to_stderr(&[faint("  --> "), plain(&source.to_string())]);
        }
        hint(conflict.hint.as_deref(), quiet);
    }
}

fn hint(text: Option<&str>, quiet: bool) {
    if let Some(text) = text.filter(|_| !quiet) {
        to_stderr(&[strong("  hint: "), plain(text)]);
    }
}

/// A failure as JSON.
pub(super) fn to_json(failure: &Failure) -> Value {
    let problems: Vec<Value> = match failure {
        Failure::Document(problems) | Failure::Config(ConfigError::Document(problems)) => problems
            .list
            .iter()
            .map(|problem| {
                json!({
                    "document": problems.document,
                    "line": problem.place.map(|place| place.line),
                    "column": problem.place.map(|place| place.column),
                    "path": problem.path.as_str(),
                    "message": problem.message,
                    "hint": problem.hint,
                })
            })
            .collect(),
        Failure::Conflicts(conflicts) => conflicts
            .list
            .iter()
            .map(|conflict| {
                json!({
                    "kind": conflict.kind.word(),
                    "message": conflict.message,
                    "hint": conflict.hint,
                    "sources": conflict.sources.iter().map(source_json).collect::<Vec<_>>(),
                })
            })
            .collect(),
        _ => Vec::new(),
    };
    let first_hint = || problems.first().and_then(|problem| problem["hint"].as_str()).map(str::to_owned);
    json!({"ok": false, "error": {
        "code": failure.code(),
        "message": failure.to_string(),
        "hint": failure.hint().or_else(first_hint),
        "problems": problems,
    }})
}

fn source_json(source: &Source) -> Value {
    let Source { layer, document, place, path } = source;
    json!({
        "layer": layer,
        "document": &**document,
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "path": path.as_str(),
    })
}
