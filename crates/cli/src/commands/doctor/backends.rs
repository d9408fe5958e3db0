//! Which walls commands get here: each backend that may be used is looked at, then a sandbox is made, used and ended, and timed. Those that
//! the operator has not listed are told as off.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_core::{Backends, Refusal};
use bailiwick_sandbox::{Available, Backend, Demand, Probe, SandboxError};
use bailiwick_types::{WallStatus, Wallpart, shortened};
use serde_json::{Value, json};

use super::measure::{self, Times, Untimed};
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
    times: Option<Result<Times, Untimed>>,
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

/// What came of the look at a backend.
enum State<'a> {
    /// It was not looked at.
    Off,
    /// It cannot be used.
    Not { reason: String, fix: Option<String> },
    /// It can, and took longer than it is timed for.
    Slow,
    /// It can, and takes this long.
    Timed(&'a Times),
}

impl Seen {
    fn state(&self) -> State<'_> {
        let Some(Looked { probe, times }) = &self.looked else { return State::Off };
        match (&probe.availability, times) {
            (Available::No { reason, fix }, _) => State::Not { reason: reason.clone(), fix: fix.clone() },
            (Available::Yes, Some(Err(Untimed::Failed(error)))) => {
                State::Not { reason: error.to_string(), fix: error.hint() }
            }
            (Available::Yes, Some(Ok(times))) => State::Timed(times),
            (Available::Yes, Some(Err(Untimed::Late)) | None) => State::Slow,
        }
    }

    fn is_available(&self) -> bool {
        matches!(self.state(), State::Slow | State::Timed(_))
    }

    /// How long it took, where a sandbox was made and used in time.
    fn times(&self) -> Option<Times> {
        if let State::Timed(times) = self.state() { Some(*times) } else { None }
    }

    /// What was seen to stand, where a sandbox was looked at.
    fn enforces(&self) -> &[Wallpart] {
        self.looked.as_ref().map_or(&[], |looked| &looked.probe.enforces)
    }

    fn found(&self) -> &[String] {
        self.looked.as_ref().map_or(&[], |looked| &looked.probe.found)
    }

    /// Whether a sandbox of it was seen, even if none could be used.
    fn was_seen(&self) -> bool {
        self.looked.as_ref().is_some_and(|looked| looked.probe.availability == Available::Yes)
    }

    /// What is not held in full, and how to get it, as the backend knows.
    fn fixes(&self) -> Vec<(&'static str, String)> {
        let is_missing = |demand: &Demand| {
            let part = self.enforces().iter().find(|part| part.demand == demand.name());
            part.is_some_and(|part| part.status != WallStatus::Enforced)
        };
        let missing = Demand::ALL.into_iter().filter(|demand| self.was_seen() && is_missing(demand));
        let unknown = || "nothing is known that would give it here".to_owned();
        missing.map(|demand| (demand.name(), self.backend.advice(demand).unwrap_or_else(unknown))).collect()
    }

    /// Why it cannot be used, and what would help; or what would give the rest.
    fn trouble(&self) -> (Option<String>, Option<String>) {
        let id = self.backend.id();
        let (reason, first) = match self.state() {
            State::Off => {
                let list = self.to_list.as_deref().unwrap_or_default();
                let fix =
                    format!("list it: {list}; bailiwick doctor --backend {id} looks whether it works here");
                (Some("it is off: sandbox.backends does not list it".to_owned()), Some(fix))
            }
            State::Not { reason, fix } => (Some(reason), fix),
            State::Slow => (Some(too_slow()), self.listing()),
            State::Timed(_) => (None, self.listing()),
        };
        let rest = self.fixes().into_iter().map(|(what, fix)| format!("{what}: {fix}"));
        let fixes: Vec<String> = first.into_iter().chain(rest).collect();
        (reason, (!fixes.is_empty()).then(|| fixes.join("; ")))
    }

    /// What makes one that works be used, where it is off.
    fn listing(&self) -> Option<String> {
        self.to_list.as_ref().map(|list| format!("it works here, and is off; list it: {list}"))
    }

    fn to_json(&self) -> Value {
        let Self { backend, to_list, looked } = self;
        let (reason, fix) = self.trouble();
        let times = self.times();
        json!({
            "id": backend.id(),
            "tier": backend.tier(),
            "available": self.is_available(),
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
        let here = match (self.state(), &self.to_list) {
            (State::Off, _) => Cell::new("off", faint),
            (State::Not { .. }, _) => Cell::new("not available", bad),
            (State::Slow | State::Timed(_), None) => Cell::new("available", good),
            (State::Slow | State::Timed(_), Some(_)) => Cell::new("works, but is off", warning),
        };
        let time = |pick: fn(Times) -> Duration| match self.state() {
            State::Timed(times) => format!("{:.1} ms", ms(pick(*times))),
            State::Slow => "too slow".to_owned(),
            State::Off | State::Not { .. } => "-".to_owned(),
        };
        let held = self.enforces().iter().filter(|part| part.status == WallStatus::Enforced).count();
        let holds = self.is_available().then(|| format!("{held} of {}", self.enforces().len()));
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
        match self.state() {
            State::Off => {
                let (reason, fix) = self.trouble();
                for line in reason.into_iter().chain(fix) {
                    screen.line(&[plain("  "), plain(&line)]);
                }
            }
            State::Not { reason, fix } => {
                screen.line(&[bad("  not available: "), plain(&reason)]);
                if let Some(fix) = fix {
                    screen.line(&[plain("  "), plain(&fix)]);
                }
            }
            State::Slow => screen.line(&[warning("  "), plain(&too_slow())]),
            State::Timed(_) => {}
        }
        if self.is_available()
            && let Some(list) = &self.to_list
        {
            screen.line(&[warning("  it works here, and is off; list it: "), plain(list)]);
        }
        for found in self.found() {
            screen.line(&[faint("  found    "), plain(found)]);
        }
        if !self.was_seen() {
            return;
        }
        for Wallpart { demand, mechanism, status } in self.enforces() {
            let demand = format!("{demand:<12}");
            screen.line(&[plain("  "), status_word(*status), plain(&demand), faint(mechanism)]);
        }
        let fixes = self.fixes();
        if wants_fixes {
            for (what, fix) in fixes {
                screen.line(&[warning("  to have "), plain(what), plain(": "), plain(&fix)]);
            }
        } else if !fixes.is_empty() {
            screen.line(&[faint("  bailiwick doctor --fix says what would give the rest")]);
        }
    }
}

fn too_slow() -> String {
    let longest = measure::LONGEST.as_secs();
    format!("it works, and was too slow to be timed: no figure came within {longest} s")
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

#[cfg(test)]
mod tests;
