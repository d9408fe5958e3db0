//! Which walls commands get here: each backend that may be used is looked at, then a sandbox is made, used and ended, and timed. Those that
//! the operator has not listed are told as off.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::{Backends, Refusal};
use bailiwick_sandbox::{Available, Backend, Probe, SandboxError};
use bailiwick_types::{WallStatus, Wallpart, shortened};
use serde_json::{Value, json};

use super::measure::{self, Times};
use super::status_word;
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, bad, faint, good, plain, strong, warning};

/// Every backend that there is, and which of them the operator lists.
pub(super) struct Known {
    pub(super) all: Vec<Arc<dyn Backend>>,
    pub(super) listed: Vec<String>,
}

/// Which backends are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which<'a> {
    /// Those that the operator lists.
    Listed,
    /// All of them.
    All,
    /// This one.
    One(&'a str),
}

/// What was seen of one backend.
pub(super) struct Seen {
    backend: Arc<dyn Backend>,
    /// What would be `sandbox.backends` to have it, where it is not listed.
    to_list: Option<String>,
    /// What was seen, where it was looked at.
    looked: Option<Looked>,
}

struct Looked {
    probe: Probe,
    times: Option<Result<Times, SandboxError>>,
}

/// Looks at backends. One that hangs is not waited for: a look and what is timed have deadlines.
pub(super) async fn look(known: Known, which: Which<'_>) -> Result<Vec<Seen>, Failure> {
    let Known { mut all, listed } = known;
    if let Which::One(name) = which {
        let names = all.iter().map(|backend| backend.id().to_owned()).collect();
        all.retain(|backend| backend.id() == name);
        if all.is_empty() {
            let unknown = SandboxError::NoBackend { name: shortened(name), known: names };
            return Err(Refusal::from(unknown).into());
        }
    }
    let is_listed = |backend: &Arc<dyn Backend>| listed.iter().any(|id| id == backend.id());
    let wanted = all.iter().filter(|backend| which != Which::Listed || is_listed(backend)).cloned();
    let mut probed = Backends::new(wanted).survey().await;
    let mut seen = Vec::with_capacity(all.len());
    for backend in all {
        let found = probed.iter().position(|(other, _)| Arc::ptr_eq(other, &backend));
        let looked = match found.map(|at| probed.swap_remove(at)) {
            Some((_, probe)) => Some(time(backend.as_ref(), probe).await),
            None => None,
        };
        let to_list = (!is_listed(&backend)).then(|| {
            let all = listed.iter().map(String::as_str).chain([backend.id()]);
            let all: Vec<String> = all.map(|id| format!("\"{id}\"")).collect();
            format!("sandbox.backends = [{}]", all.join(", "))
        });
        seen.push(Seen { backend, to_list, looked });
    }
    Ok(seen)
}

async fn time(backend: &dyn Backend, probe: Probe) -> Looked {
    let times = match probe.availability {
        Available::Yes => Some(measure::times(backend).await),
        Available::No { .. } => None,
    };
    measure::close(backend).await;
    Looked { probe, times }
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

impl Seen {
    /// How long it took, where a sandbox was made and used.
    fn times(&self) -> Option<Times> {
        self.looked.as_ref()?.times.as_ref()?.as_ref().ok().copied()
    }

    fn enforces(&self) -> &[Wallpart] {
        self.looked.as_ref().map_or(&[], |looked| &looked.probe.enforces)
    }

    /// Why it cannot be used, and what would help; or what would give the rest.
    fn trouble(&self) -> (Option<String>, Option<String>) {
        let Some(Looked { probe, times }) = &self.looked else {
            let id = self.backend.id();
            let list = self.to_list.as_deref().unwrap_or_default();
            let fix = format!("list it: {list}; bailiwick doctor --backend {id} looks whether it works here");
            return (Some("it is off: sandbox.backends does not list it".to_owned()), Some(fix));
        };
        match (&probe.availability, times) {
            (Available::No { reason, fix }, _) => (Some(reason.clone()), fix.clone()),
            (Available::Yes, Some(Err(error))) => (Some(error.to_string()), error.hint()),
            (Available::Yes, _) => {
                let list =
                    self.to_list.as_ref().map(|list| format!("it works here, and is off; list it: {list}"));
                let rest = fixes(&probe.enforces).into_iter().map(|(what, fix)| format!("{what}: {fix}"));
                let fixes: Vec<String> = list.into_iter().chain(rest).collect();
                (None, (!fixes.is_empty()).then(|| fixes.join("; ")))
            }
        }
    }

    fn to_json(&self) -> Value {
        let Self { backend, to_list, looked } = self;
        let (reason, fix) = self.trouble();
        let times = self.times();
        json!({
            "id": backend.id(),
            "tier": backend.tier(),
            "available": times.is_some(),
            "reason": reason,
            "fix": fix,
            "enforces": self.enforces(),
            "coldStartMs": times.map(|times| ms(times.start)),
            "execMs": times.map(|times| ms(times.command)),
            "listed": to_list.is_none(),
            "found": looked.as_ref().map(|looked| &looked.probe.found),
        })
    }

    fn row(&self) -> Vec<Cell> {
        let here = match (&self.looked, self.times(), &self.to_list) {
            (None, ..) => Cell::new("off", faint),
            (Some(_), None, _) => Cell::new("not available", bad),
            (Some(_), Some(_), None) => Cell::new("available", good),
            (Some(_), Some(_), Some(_)) => Cell::new("works, but is off", warning),
        };
        let time = |pick: fn(Times) -> Duration| {
            self.times().map_or("-".to_owned(), |times| format!("{:.1} ms", ms(pick(times))))
        };
        let held = self.enforces().iter().filter(|part| part.status == WallStatus::Enforced).count();
        let holds = self.times().map(|_| format!("{held} of {}", self.enforces().len()));
        vec![
            Cell::new(self.backend.id(), strong),
            Cell::new(self.backend.tier().name(), plain),
            here,
            Cell::new(holds.unwrap_or_else(|| "-".to_owned()), plain),
            Cell::new(time(|times| times.start), plain),
            Cell::new(time(|times| times.command), plain),
        ]
    }

    fn tell(&self, screen: &mut Screen, wants_fixes: bool) {
        screen.line(&[]);
        screen.line(&[strong(self.backend.id()), faint("  "), faint(self.backend.tier().name())]);
        let (reason, fix) = self.trouble();
        if let Some(reason) = reason {
            let word = if self.looked.is_some() { bad("  not available: ") } else { faint("  ") };
            screen.line(&[word, plain(&reason)]);
            if let Some(fix) = fix {
                screen.line(&[plain("  "), plain(&fix)]);
            }
            return;
        }
        if let Some(list) = &self.to_list {
            screen.line(&[warning("  it works here, and is off; list it: "), plain(list)]);
        }
        for Wallpart { demand, mechanism, status } in self.enforces() {
            let demand = format!("{demand:<12}");
            screen.line(&[plain("  "), status_word(*status), plain(&demand), faint(mechanism)]);
        }
        let fixes = fixes(self.enforces());
        if wants_fixes {
            for (what, fix) in fixes {
                screen.line(&[warning("  to have "), plain(what), plain(": "), plain(fix)]);
            }
        } else if !fixes.is_empty() {
            screen.line(&[faint("  bailiwick doctor --fix says what would give the rest")]);
        }
    }
}

/// For machines.
pub(super) fn to_json(seen: &[Seen]) -> Value {
    Value::Array(seen.iter().map(Seen::to_json).collect())
}

/// For people.
pub(super) fn tell(screen: &mut Screen, seen: &[Seen], wants_fixes: bool) {
    screen.line(&[]);
    screen.line(&[strong("Command sandboxes")]);
    if seen.iter().all(|one| one.to_list.is_some()) {
        screen.line(&[plain("  the operator lets commands run on none of these (sandbox.backends)")]);
    }
    let mut table = Table::new(&["BACKEND", "TIER", "HERE", "HOLDS", "START", "COMMAND"]);
    for one in seen {
        table.row(one.row());
    }
    table.show(screen);
    for one in seen {
        one.tell(screen, wants_fixes);
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
