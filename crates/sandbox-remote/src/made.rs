//! What a server says that it made, and what is believed of it: its word about walls, as its word, and nothing that is wider
//! than what was asked for.

use bailiwick_core::sandboxes::SandboxView;
use bailiwick_sandbox::{Demand, Limit, Limits, SandboxError, SandboxSpec, judge, receipt, unenforceable};
use bailiwick_types::{Receipt, Tier, Wallpart};

use crate::ID;
use crate::door::Door;
use crate::fault::strange;

/// The most warnings that are passed on.
const MOST_WARNINGS: usize = 32;

/// What is passed on of an answer.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) receipt: Receipt,
    pub(crate) warnings: Vec<String>,
}

/// Looks at what was made for a spec. It must be at least this strong.
pub(crate) fn believed(
    door: &Door,
    spec: &SandboxSpec,
    view: &SandboxView,
    least: Tier,
    accept: &[Demand],
) -> Result<Made, SandboxError> {
    if !view.receipt.tier.meets(least) {
        let unheld = format!("{least} (it gave {} and had said {least})", view.receipt.tier);
        let fix = "ask again: it is looked at anew".to_owned();
        return Err(SandboxError::Unenforceable { backend: ID.to_owned(), unheld: vec![unheld], fix });
    }
    is_not_wider(door, spec, view)?;
    let report = walls(door, &view.receipt);
    let accepted = judge(spec, &report, accept).map_err(|unheld| unenforceable(ID, spec, &unheld, &[]))?;
    let theirs = view.warnings.iter().take(MOST_WARNINGS);
    let theirs = theirs.map(|line| format!("{} says: {}", door.address(), door.told(line)));
    let mut warnings = accepted.warnings;
    warnings.extend(theirs);
    Ok(Made { receipt: receipt(view.receipt.tier, spec, &report), warnings })
}

/// The walls that a server tells of, each as its word.
pub(crate) fn walls(door: &Door, receipt: &Receipt) -> Vec<Wallpart> {
    let of = |demand: Demand| {
        let told = receipt.walls.iter().find(|part| part.demand == demand.name())?;
        let mechanism = format!("{} says: {}", door.address(), door.told(&told.mechanism));
        Some(Wallpart { demand: demand.name().to_owned(), mechanism, status: told.status })
    };
    Demand::ALL.into_iter().filter_map(of).collect()
}

/// Refuses a sandbox that by the server's own account may use or reach more than was asked for.
fn is_not_wider(door: &Door, spec: &SandboxSpec, view: &SandboxView) -> Result<(), SandboxError> {
    let told = |what: &str| view.spec.get(what).cloned().unwrap_or_default();
    let limits: Limits = serde_json::from_value(told("limits")).map_err(|error| {
        strange(door, &format!("the limits of what it made: {}", door.told(&error.to_string())))
    })?;
    for limit in Limit::ALL {
        let (asked, given) = (spec.limits.get(limit), limits.get(limit));
        // No limit of its own is above every other.
        let no_limit = |value: u64| limit == Limit::Processes && value == 0;
        if !no_limit(asked) && (no_limit(given) || given > asked) {
            let what = format!(
                "it made a sandbox with {} of {limit}, and {} was asked for",
                limit.told(given),
                limit.told(asked)
            );
            return Err(strange(door, &what));
        }
    }
    let (asked, given) = (spec.network.to_string(), told("network"));
    if given.as_str() != Some(asked.as_str()) {
        let what = format!(
            "it made a sandbox with the network {}, and `{asked}` was asked for",
            door.told(&given.to_string())
        );
        return Err(strange(door, &what));
    }
    for what in ["mounts", "overlays", "secrets", "expose"] {
        if told(what).as_array().is_none_or(|listed| !listed.is_empty()) {
            return Err(strange(door, &format!("it made a sandbox with {what}, and none were asked for")));
        }
    }
    Ok(())
}
