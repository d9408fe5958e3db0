//! Demands: which are, what a report says of each, and what a receipt and an error make of it.

use bailiwick_types::{ErrorCode, Tier, WallStatus, Wallpart};

use super::fake::{report, wallpart};
use crate::limits::Limit;
use crate::{
    Alternative, Bound, Demand, From, Network, SandboxError, SandboxSpec, judge, receipt, unenforceable,
};

const STATUSES: [WallStatus; 3] = [WallStatus::Enforced, WallStatus::Partial, WallStatus::Absent];
const ORIGINS: [From; 3] = [From::Preset, From::Typed, From::Operator];

fn limit_of(demand: Demand) -> Option<Limit> {
    match demand {
        Demand::Memory => Some(Limit::Memory),
        Demand::Cpu => Some(Limit::Cpu),
        Demand::Disk => Some(Limit::Disk),
        Demand::Processes => Some(Limit::Processes),
        Demand::Timeout => Some(Limit::Timeout),
        Demand::Network | Demand::Files | Demand::Identity | Demand::Kill => None,
    }
}

/// A spec in which the limit behind a demand comes from here.
fn spec(demand: Demand, from: From) -> SandboxSpec {
    let mut spec = SandboxSpec::default();
    if let Some(limit) = limit_of(demand) {
        let value = spec.limits.get(limit);
        spec.limits.put(limit, value, from);
    }
    spec
}

/// A report that holds everything but this.
fn all_but(demand: Demand, status: Option<WallStatus>) -> Vec<Wallpart> {
    let mut report = report(WallStatus::Enforced);
    report.retain(|part| part.demand != demand.name());
    report.extend(status.map(|status| wallpart(demand, status)));
    report
}

/// What becomes of a spec for which one demand has this status.
#[derive(Debug, PartialEq)]
enum Verdict {
    Held,
    Warned,
    Refused,
}

#[test]
fn every_demand_with_every_status_and_origin_has_its_verdict() {
    for demand in Demand::ALL {
        for status in STATUSES.into_iter().map(Some).chain([None]) {
            for from in ORIGINS {
                for lenient in [&[][..], &[demand][..]] {
                    let expected = match (status, demand) {
                        (Some(WallStatus::Enforced), _) => Verdict::Held,
                        (Some(WallStatus::Partial), demand) if lenient.contains(&demand) => Verdict::Held,
                        // A deadline is not optional, whoever set it; nor is a wall.
                        (_, Demand::Timeout) => Verdict::Refused,
                        (_, demand) if demand.is_wall() => Verdict::Refused,
                        _ if from == From::Preset => Verdict::Warned,
                        _ => Verdict::Refused,
                    };
                    let judged = judge(&spec(demand, from), &all_but(demand, status), lenient);
                    let verdict = match &judged {
                        Ok(accepted) if accepted.warnings.is_empty() => Verdict::Held,
                        Ok(accepted) => {
                            assert_eq!(accepted.warnings.len(), 1);
                            assert!(accepted.warnings[0].contains(demand.name()), "{accepted:?}");
                            Verdict::Warned
                        }
                        Err(unheld) => {
                            assert_eq!(unheld.len(), 1);
                            assert_eq!(unheld[0].demand, demand);
                            assert_eq!(unheld[0].status, status.unwrap_or(WallStatus::Absent));
                            Verdict::Refused
                        }
                    };
                    assert_eq!(verdict, expected, "{demand:?} {status:?} {from:?} {lenient:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_asked_for_is_not_demanded() {
    let nothing = |demand| all_but(demand, Some(WallStatus::Absent));
    let host = SandboxSpec { network: Network::Host, ..SandboxSpec::default() };
    assert!(judge(&host, &nothing(Demand::Network), &[]).is_ok());
    assert!(judge(&SandboxSpec::default(), &nothing(Demand::Network), &[]).is_err());
    let mut unbound = SandboxSpec::default();
    unbound.limits.processes = Bound { value: 0, from: From::Typed };
    assert!(judge(&unbound, &nothing(Demand::Processes), &[]).is_ok());
}

#[test]
fn an_empty_report_holds_nothing() {
    let unheld = judge(&SandboxSpec::default(), &[], &[]).unwrap_err();
    let names: Vec<&str> = unheld.iter().map(|unheld| unheld.demand.name()).collect();
    assert_eq!(names, ["network", "files", "identity", "kill", "timeout"]);
}

#[test]
fn a_receipt_has_what_is_asked_for_as_the_report_has_it() {
    let spec = SandboxSpec::default();
    let full = receipt(Tier::Process, &spec, &report(WallStatus::Enforced));
    assert_eq!((full.tier, full.insecure), (Tier::Process, false));
    assert_eq!(full.walls, report(WallStatus::Enforced));
    for demand in Demand::ALL {
        let partial = receipt(Tier::Process, &spec, &all_but(demand, Some(WallStatus::Partial)));
        assert_eq!(partial.insecure, demand.is_wall(), "{demand:?}: a wall that is half there is not one");
        let missing = receipt(Tier::Process, &spec, &all_but(demand, None));
        let part = missing.walls.iter().find(|part| part.demand == demand.name()).unwrap();
        assert_eq!((part.status, part.mechanism.as_str()), (WallStatus::Absent, "nothing"));
    }
}

#[test]
fn a_receipt_claims_no_network_wall_on_the_hosts_network() {
    let spec = SandboxSpec { network: Network::Host, ..SandboxSpec::default() };
    let receipt = receipt(Tier::Process, &spec, &report(WallStatus::Enforced));
    let network: Vec<&Wallpart> = receipt.walls.iter().filter(|part| part.demand == "network").collect();
    assert_eq!(network.len(), 1);
    assert_eq!(network[0].status, WallStatus::Absent);
    assert_eq!(network[0].mechanism, "the host's own network, as asked for");
    assert!(!receipt.insecure, "it was asked for");
}

#[test]
fn a_receipt_says_nothing_of_a_limit_that_is_not_set() {
    let mut spec = SandboxSpec::default();
    spec.limits.processes.value = 0;
    let receipt = receipt(Tier::Process, &spec, &report(WallStatus::Enforced));
    assert!(receipt.walls.iter().all(|part| part.demand != "processes"));
}

#[test]
fn a_receipt_says_that_a_presets_disk_was_lowered_to_memory() {
    for (memory, status, expected) in [
        (
            "64MiB",
            WallStatus::Enforced,
            Some("; the preset's 256MiB is lowered to 64MiB: files count within memory"),
        ),
        ("256MiB", WallStatus::Enforced, None),
        ("64MiB", WallStatus::Absent, None),
    ] {
        let limits = SandboxSpec::default().limits.with(Limit::Memory, memory).unwrap();
        let receipt =
            receipt(Tier::Process, &SandboxSpec { limits, ..SandboxSpec::default() }, &report(status));
        let disk = receipt.walls.iter().find(|part| part.demand == "disk").unwrap();
        let rest = disk.mechanism.strip_prefix("a fake disk").unwrap();
        assert_eq!((!rest.is_empty()).then_some(rest), expected, "{memory}");
    }
}

#[track_caller]
fn check_fix(spec: &SandboxSpec, gaps: &[Demand], others: &[(&str, Vec<Wallpart>)], expected: &str) {
    let mut own = report(WallStatus::Enforced);
    own.retain(|part| gaps.iter().all(|gap| gap.name() != part.demand));
    let unheld = judge(spec, &own, &[]).unwrap_err();
    let others: Vec<Alternative> = others
        .iter()
        .map(|(backend, enforces)| Alternative { backend: (*backend).to_owned(), enforces: enforces.clone() })
        .collect();
    let error = unenforceable("process", spec, &unheld, &others);
    assert_eq!(error.code(), ErrorCode::Unenforceable);
    let text = error.to_string();
    assert!(text.contains("`process`"), "{text}");
    for gap in gaps {
        assert!(text.contains(gap.name()), "{text}");
    }
    assert_eq!(error.hint().unwrap(), expected);
}

#[test]
fn the_fix_names_what_would_hold_it() {
    let full = || report(WallStatus::Enforced);
    let doctor = "bailiwick doctor tells what would give the rest";
    let memory = spec(Demand::Memory, From::Typed);
    let drop_memory =
        format!("leave out the limit on memory: the preset's is held as far as this machine can; {doctor}");
    check_fix(&memory, &[Demand::Memory], &[("container", full())], "the backend `container` holds it here");
    check_fix(&memory, &[Demand::Memory], &[], &drop_memory);
    check_fix(&memory, &[Demand::Memory], &[("process", full())], &drop_memory);
    check_fix(
        &memory,
        &[Demand::Memory],
        &[("container", all_but(Demand::Memory, Some(WallStatus::Partial)))],
        &drop_memory,
    );
    check_fix(&SandboxSpec::default(), &[Demand::Network], &[], doctor);
    // What the operator requires cannot be left out, and one of two does not help.
    check_fix(&spec(Demand::Memory, From::Operator), &[Demand::Memory], &[], doctor);
    check_fix(&memory, &[Demand::Memory, Demand::Kill], &[], doctor);
    check_fix(
        &memory,
        &[Demand::Memory, Demand::Kill],
        &[("half", all_but(Demand::Kill, None)), ("microvm", full())],
        "the backend `microvm` holds it here",
    );
}

#[test]
fn an_unheld_demand_is_told_with_what_there_is_of_it() {
    let own = all_but(Demand::Files, Some(WallStatus::Partial));
    let unheld = judge(&SandboxSpec::default(), &own, &[]).unwrap_err();
    let SandboxError::Unenforceable { unheld, .. } =
        unenforceable("process", &SandboxSpec::default(), &unheld, &[])
    else {
        panic!("another error")
    };
    assert_eq!(unheld, ["files (partial: a fake files)"]);
}
