//! From what a cell gave to the report that every interface gives.

use bailiwick_cell::{Ended, Finding, Given, Severity};
use bailiwick_policy::EffectivePolicy;
use bailiwick_types::{ErrorCode, Failure, LimitKind, Outcome};
use serde_json::Value;

use crate::denied::explain_missing;
use crate::surface::blocked;

/// The outcome of a call.
pub(crate) fn outcome(ended: &mut Ended, policy: &EffectivePolicy) -> Outcome {
    let missing = ended.missing.take();
    let taken = std::mem::replace(&mut ended.result, Ok(Given::Value(Value::Null)));
    match taken {
        Ok(Given::Value(value)) => Outcome::Returned(value),
        Ok(Given::Output { text, over: false }) => Outcome::Returned(Value::String(text)),
        Ok(Given::Output { over: true, .. }) => Outcome::Failed(Box::new(too_much(policy))),
        Ok(Given::Findings(findings)) => Outcome::Failed(Box::new(refused(&told(findings, policy)))),
        Err(mut failure) => {
            if let Some(name) = missing {
                explain_missing(policy, &name, &mut failure);
            }
            Outcome::Failed(failure)
        }
    }
}

/// The failure of a pure function that gave more than it may.
fn too_much(policy: &EffectivePolicy) -> Failure {
    let kind = LimitKind::ResultSize;
    let limit = kind.unit().format(policy.limits().get(kind));
    Failure {
        code: ErrorCode::OutputLimit,
        message: format!("the limit on the {} was reached: {limit}", kind.doc()),
        hint: Some(format!("raise `{}` under `limits` of the tool", kind.key())),
        location: None,
        stack: None,
        denied: None,
    }
}

/// Findings in the words of this policy: it knows best why a name is not there and what would bring it.
pub(crate) fn told(mut findings: Vec<Finding>, policy: &EffectivePolicy) -> Vec<Finding> {
    let blocked = blocked(policy);
    for finding in &mut findings {
        let root = |name: &str| name.split('.').next() == Some(finding.name.as_str());
        if let Some(known) = blocked.iter().find(|blocked| root(&blocked.name)) {
            finding.why.clone_from(&known.why);
            finding.instead.clone_from(&known.instead);
        }
    }
    findings
}

/// The failure of code that validation keeps from running.
fn refused(findings: &[Finding]) -> Failure {
    let errors: Vec<&Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let (message, hint, location) = match errors.as_slice() {
        [] => ("validation refused the code".to_owned(), None, None),
        [first, rest @ ..] => {
            let more = match rest.len() {
                0 => String::new(),
                count => format!(" (and {count} more)"),
            };
            let message = format!("`{}` cannot work here: {}{more}", first.name, first.why);
            (message, Some(first.instead.clone()), Some(first.location))
        }
    };
    Failure { code: ErrorCode::Validation, message, hint, location, stack: None, denied: None }
}
