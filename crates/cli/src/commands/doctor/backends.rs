//! Which walls commands get here: each backend is looked at, then a sandbox is made, used and ended, and timed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_core::Backends;
use bailiwick_sandbox::{Available, Backend, Probe, SandboxError};
use bailiwick_types::{WallStatus, Wallpart};
use serde_json::{Value, json};

use super::status_word;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, bad, faint, good, plain, strong, warning};

/// Sandboxes that are timed.
const TIMED: usize = 5;
/// Commands in one of them that are timed.
const COMMANDS: usize = 11;

/// What was seen of one backend.
pub(super) struct Seen {
    backend: Arc<dyn Backend>,
    probe: Probe,
    /// A sandbox made, used once and ended; a command in one that stands.
    times: Option<Result<(Duration, Duration), SandboxError>>,
}

/// Looks at every backend.
pub(super) async fn look(backends: &Backends) -> Vec<Seen> {
    let mut all = Vec::new();
    for (backend, probe) in backends.survey().await {
        let times = match probe.availability {
            Available::Yes => Some(time(backend.as_ref()).await),
            Available::No { .. } => None,
        };
        backend.close().await;
        all.push(Seen { backend, probe, times });
    }
    all
}

/// How long a sandbox takes from nothing to nothing with one command in it, and a command in one that stands.
async fn time(backend: &dyn Backend) -> Result<(Duration, Duration), SandboxError> {
    let (spec, nothing) = backend.simplest()?;
    let mut cold = Vec::with_capacity(TIMED);
    for _ in 0..TIMED {
        let began = Instant::now();
        let sandbox = backend.create(spec.clone()).await?;
        sandbox.exec(nothing.clone()).await?;
        sandbox.terminate().await?;
        cold.push(began.elapsed());
    }
    let sandbox = backend.create(spec).await?;
    let mut warm = Vec::with_capacity(COMMANDS);
    for _ in 0..COMMANDS {
        let began = Instant::now();
        sandbox.exec(nothing.clone()).await?;
        warm.push(began.elapsed());
    }
    sandbox.terminate().await?;
    Ok((median(cold), median(warm)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

/// For machines.
pub(super) fn to_json(seen: &[Seen]) -> Value {
    let shown = seen.iter().map(|one| {
        let Seen { backend, probe, times } = one;
        let (reason, fix) = trouble(one);
        let times = times.as_ref().and_then(|times| times.as_ref().ok());
        json!({
            "id": backend.id(),
            "tier": backend.tier(),
            "available": is_usable(one),
            "reason": reason,
            "fix": fix,
            "enforces": probe.enforces,
            "coldStartMs": times.map(|(cold, _)| ms(*cold)),
            "execMs": times.map(|(_, warm)| ms(*warm)),
        })
    });
    Value::Array(shown.collect())
}

/// Whether a sandbox was made and used.
fn is_usable(seen: &Seen) -> bool {
    matches!(seen.times, Some(Ok(_)))
}

/// Why it cannot be used, and what would help; or what would give the rest.
fn trouble(seen: &Seen) -> (Option<String>, Option<String>) {
    match (&seen.probe.availability, &seen.times) {
        (Available::No { reason, fix }, _) => (Some(reason.clone()), fix.clone()),
        (Available::Yes, Some(Err(error))) => (Some(error.to_string()), error.hint()),
        (Available::Yes, _) => {
            let fixes = fixes(&seen.probe.enforces);
            let fixes: Vec<String> = fixes.iter().map(|(what, fix)| format!("{what}: {fix}")).collect();
            (None, (!fixes.is_empty()).then(|| fixes.join("; ")))
        }
    }
}

/// For people.
pub(super) fn tell(screen: &mut Screen, seen: &[Seen], wants_fixes: bool) {
    screen.line(&[]);
    screen.line(&[strong("Command sandboxes")]);
    if seen.is_empty() {
        return screen
            .line(&[plain("  none: the operator lets commands run on no backend (sandbox.backends)")]);
    }
    let mut table = Table::new(&["BACKEND", "TIER", "HERE", "START", "COMMAND"]);
    for one in seen {
        let time = |pick: fn(&(Duration, Duration)) -> Duration| match &one.times {
            Some(Ok(times)) => format!("{:.1} ms", ms(pick(times))),
            _ => "-".to_owned(),
        };
        let here =
            if is_usable(one) { Cell::new("available", good) } else { Cell::new("not available", bad) };
        table.row(vec![
            Cell::new(one.backend.id(), strong),
            Cell::new(one.backend.tier().name(), plain),
            here,
            Cell::new(time(|(cold, _)| *cold), plain),
            Cell::new(time(|(_, warm)| *warm), plain),
        ]);
    }
    table.show(screen);
    for one in seen {
        screen.line(&[]);
        screen.line(&[strong(one.backend.id()), faint("  "), faint(one.backend.tier().name())]);
        let (reason, fix) = trouble(one);
        if let Some(reason) = reason {
            screen.line(&[bad("  not available: "), plain(&reason)]);
            if let Some(fix) = fix {
                screen.line(&[plain("  "), plain(&fix)]);
            }
            continue;
        }
        for Wallpart { demand, mechanism, status } in &one.probe.enforces {
            let demand = format!("{demand:<12}");
            screen.line(&[plain("  "), status_word(*status), plain(&demand), faint(mechanism)]);
        }
        let fixes = fixes(&one.probe.enforces);
        if wants_fixes {
            for (what, fix) in fixes {
                screen.line(&[warning("  to have "), plain(what), plain(": "), plain(fix)]);
            }
        } else if !fixes.is_empty() {
            screen.line(&[faint("  bailiwick doctor --fix says what would give the rest")]);
        }
    }
}

/// What is not held in full, and how to get it.
fn fixes(enforces: &[Wallpart]) -> Vec<(&str, &'static str)> {
    let missing = enforces.iter().filter(|part| part.status != WallStatus::Enforced);
    missing.map(|part| (part.demand.as_str(), fix(&part.demand))).collect()
}

fn fix(demand: &str) -> &'static str {
    match demand {
        "memory" | "cpu" => {
            "run as root, or in a delegated cgroup v2 (systemd-run --user --scope -p Delegate=yes bailiwick …); in a \
             container, mount its cgroup writable"
        }
        _ => {
            "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
             kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows clone and \
             mount in them"
        }
    }
}
