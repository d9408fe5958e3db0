//! One suite for all backends that run commands of the host or of an image: what any of them does the same way is checked here, once,
//! against what a backend claims.
//!
//! A backend's tests implement [`Subject`], state its [`Claims`], and run what [`tests`] gives beside the tests that only this
//! backend has. A check that a claim rules out is not listed. Start reading at [`claims`](Claims), then at any module.

mod claims;
mod commands;
mod endings;
mod files;
mod images;
mod leases;
mod limits;
mod mounts;
mod network;
mod orphans;
mod sleep;
mod snapshots;
mod stage;
mod terminals;
mod walls;

use bailiwick_testkit::Trial;

pub use claims::{Claims, HostNetwork, ImageRoot, Kernel, Leases, MountOwner, OutOfMemory, Sleep, Snapshots};
pub use orphans::become_owner;
pub use stage::{Place, Setup, Subject};

/// One check of the suite.
#[derive(Clone, Copy)]
struct Check {
    /// Its module and a sentence.
    name: &'static str,
    /// Whether a backend with these claims is held to it.
    applies: fn(&Claims) -> bool,
    /// Panics when it fails.
    run: fn(&dyn Subject),
}

/// Names the checks of a module by their functions, as its `CHECKS`; one behind `if` is only for backends that claim that.
macro_rules! checks {
    ($($check:ident $(if $applies:expr)?),+ $(,)?) => {
        pub(super) const CHECKS: &[super::Check] = &[$(super::Check {
            name: concat!(module_path!(), "::", stringify!($check)),
            applies: checks!(@ $($applies)?),
            run: $check,
        }),+];
    };
    (@ $applies:expr) => { $applies };
    (@) => { |_| true };
}
use checks;

/// The suite for one backend. The names of its tests begin with `conformance::`, and with `of` behind that where a crate has more than
/// one subject. `subject` is asked in each test; where it gives none, the test is skipped.
pub fn tests<S: Subject + 'static>(
    of: Option<&str>,
    claims: &Claims,
    subject: fn() -> Option<S>,
) -> Vec<Trial> {
    let all = [
        commands::CHECKS,
        endings::CHECKS,
        files::CHECKS,
        images::CHECKS,
        leases::CHECKS,
        limits::CHECKS,
        mounts::CHECKS,
        network::CHECKS,
        orphans::CHECKS,
        sleep::CHECKS,
        snapshots::CHECKS,
        terminals::CHECKS,
        walls::CHECKS,
    ];
    let checks = all.into_iter().flatten().filter(|check| (check.applies)(claims));
    let trials = checks.map(|check| {
        let within = check.name.split_once("conformance::").map_or(check.name, |(_, within)| within);
        let of = of.map(|of| format!("{of}::")).unwrap_or_default();
        let run = check.run;
        bailiwick_testkit::trial(format!("conformance::{of}{within}"), move || {
            if let Some(subject) = subject() {
                run(&subject);
            }
        })
    });
    trials.collect()
}
