//! Every case of `specs/` as a test of its own, all in one process, so that the cases of a group share what is slow to set up.
//!
//! A [`Group`] is an area of cases with one subject, such as the cases of `specs/commands/escape` on one backend. The group is
//! prepared when its first case runs and dropped after its last one. A group may run inside a namespace: then a second process of the
//! same binary runs its cases there ([`worker`]). Must never: report a case as passed that did not run.
//!
//! `BAILIWICK_SUITE` selects cases: `quick` (the default), `rest` (what `quick` leaves out) or `full`. `BAILIWICK_JUNIT` names a
//! directory for the results in the format of `JUnit`. All other arguments are those of the usual test harness.

mod report;
#[cfg(test)]
mod tests;
mod worker;

use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::netns::Netns;
use crate::trials::Test;
use crate::{again, hollow};
use report::Report;

/// A group that is set up and can run its cases.
pub trait Prepared: Send + Sync {
    /// Runs one case; says what was wrong with it, if anything.
    ///
    /// # Errors
    /// What was wrong.
    fn check(&self, case: &str) -> Result<(), String>;

    /// Looks at what the cases left, after the last one. `is_whole` says that every case of the group ran.
    ///
    /// # Errors
    /// What was wrong.
    fn finish(&self, is_whole: bool) -> Result<(), String> {
        let _ = is_whole;
        Ok(())
    }
}

/// Sets a group up. `None`: this machine lacks something that the group needs, and that was printed.
type Prepare = Box<dyn Fn() -> Option<Box<dyn Prepared>> + Send + Sync>;

/// Cases that share a subject.
pub struct Group {
    name: String,
    cases: Vec<String>,
    quick: Option<Vec<String>>,
    place: Place,
    one_at_a_time: Vec<String>,
    is_finished: bool,
    prepare: Prepare,
}

/// Where the cases of a group run.
enum Place {
    Here,
    Network(Netns),
    Box,
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").field("name", &self.name).field("cases", &self.cases).finish_non_exhaustive()
    }
}

impl Group {
    /// Cases by their names.
    pub fn new<P: Prepared + 'static>(
        name: impl Into<String>,
        cases: Vec<String>,
        prepare: impl Fn() -> Option<P> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            cases,
            quick: None,
            place: Place::Here,
            one_at_a_time: Vec::new(),
            is_finished: false,
            prepare: Box::new(move || prepare().map(|prepared| Box::new(prepared) as Box<dyn Prepared>)),
        }
    }

    /// Only these cases belong to `quick`; all of them otherwise.
    #[must_use]
    pub fn quick(mut self, cases: Option<Vec<String>>) -> Self {
        self.quick = cases;
        self
    }

    /// The cases run inside a network of their own.
    #[must_use]
    pub fn within(mut self, network: Netns) -> Self {
        self.place = Place::Network(network);
        self
    }

    /// The cases run as root in namespaces of their own: see [`hollow`].
    #[must_use]
    pub fn in_a_box(mut self) -> Self {
        self.place = Place::Box;
        self
    }

    /// These cases run one at a time, beside the others: they take all that they can get, and the host is measured meanwhile.
    #[must_use]
    pub fn one_at_a_time(mut self, cases: Vec<String>) -> Self {
        self.one_at_a_time = cases;
        self
    }

    /// [`Prepared::finish`] is a test too.
    #[must_use]
    pub const fn finished(mut self) -> Self {
        self.is_finished = true;
        self
    }

    /// The names of cases that a selection has.
    fn selected(&self, selection: Selection) -> Vec<String> {
        let is_quick = |case: &String| self.quick.as_ref().is_none_or(|quick| quick.contains(case));
        let is_selected = |case: &&String| match selection {
            Selection::Quick => is_quick(case),
            Selection::Rest => !is_quick(case),
            Selection::Full => true,
        };
        self.cases.iter().filter(is_selected).cloned().collect()
    }

    fn open(&self) -> Option<Arc<dyn Prepared>> {
        let worker = |tell: &str, command: &dyn Fn(&Path) -> Command| {
            worker::Worker::start(&self.name, tell, command)
                .map(|worker| Arc::new(worker) as Arc<dyn Prepared>)
        };
        match &self.place {
            Place::Here => (self.prepare)().map(Arc::from),
            Place::Network(network) => worker(&network.mark(), &|program| network.command(program)),
            Place::Box => worker(&hollow::mark(), &hollow::command),
        }
    }
}

/// Which cases run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    Quick,
    Rest,
    Full,
}

impl Selection {
    #[expect(clippy::panic, reason = "a selection that is misspelt must not run something else")]
    #[expect(clippy::disallowed_methods, reason = "read by tests only, which have no settings")]
    fn read() -> Self {
        match std::env::var("BAILIWICK_SUITE").as_deref() {
            Err(_) | Ok("" | "quick") => Self::Quick,
            Ok("rest") => Self::Rest,
            Ok("full") => Self::Full,
            Ok(other) => panic!("BAILIWICK_SUITE is `quick`, `rest` or `full`, not `{other}`"),
        }
    }
}

/// Held by the case that runs at the time, of those that run one at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A group whose cases are running.
struct Running {
    group: Group,
    is_whole: bool,
    slot: Mutex<Slot>,
    /// How many cases have not ended.
    left: Mutex<usize>,
    all_ended: Condvar,
}

/// What is known of a group's preparation.
enum Slot {
    NotYet,
    Missing,
    Ready(Arc<dyn Prepared>),
}

impl Running {
    fn prepared(&self) -> Option<Arc<dyn Prepared>> {
        let mut slot = lock(&self.slot);
        if matches!(*slot, Slot::NotYet) {
            *slot = self.group.open().map_or(Slot::Missing, Slot::Ready);
        }
        match &*slot {
            Slot::Ready(prepared) => Some(Arc::clone(prepared)),
            Slot::NotYet | Slot::Missing => None,
        }
    }

    fn check(&self, case: &str) -> Result<Completion, Failed> {
        let _ended = Ended(self);
        let _turn = self.group.one_at_a_time.iter().any(|one| one == case).then(|| lock(&TURN));
        let Some(prepared) = self.prepared() else { return Ok(missing()) };
        prepared.check(case).map(|()| Completion::Completed).map_err(Failed::from)
    }

    fn finish(&self) -> Result<Completion, Failed> {
        let mut left = lock(&self.left);
        while *left > 0 {
            left = self.all_ended.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        drop(left);
        let slot = std::mem::replace(&mut *lock(&self.slot), Slot::Missing);
        let Slot::Ready(prepared) = slot else { return Ok(missing()) };
        prepared.finish(self.is_whole).map(|()| Completion::Completed).map_err(Failed::from)
    }
}

/// Counts a case as ended, however it ended.
struct Ended<'a>(&'a Running);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut left = lock(&self.0.left);
        *left -= 1;
        if *left == 0 {
            if !self.0.group.is_finished {
                *lock(&self.0.slot) = Slot::Missing;
            }
            self.0.all_ended.notify_all();
        }
    }
}

fn missing() -> Completion {
    Completion::ignored_with("this machine lacks what the test needs")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs tests and the cases of groups, as the usual harness would.
pub fn run_suite(tests: &[&[Test]], groups: Vec<Group>) -> ExitCode {
    if let Some(name) = worker::asked_for() {
        return worker::serve(&name, groups);
    }
    let mut arguments = Arguments::from_args();
    // Most cases wait: for a deadline, a container, another process.
    arguments
        .test_threads
        .get_or_insert_with(|| 2 * std::thread::available_parallelism().map_or(1, NonZero::get));
    let selection = Selection::read();
    let report = Report::new();
    let mut trials = Vec::new();
    // A test that another process runs again by its name is found whatever is selected.
    if selection != Selection::Rest || again::told().is_some() {
        trials.extend(tests.iter().copied().flatten().map(|test| {
            let Test { name, run } = *test;
            let name = name.split_once("::").map_or(name, |(_, within)| within);
            report.trial(name.to_owned(), move || {
                run();
                Ok(Completion::Completed)
            })
        }));
    }
    for group in groups {
        trials.extend(group_trials(group, selection, &arguments, &report));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        report.write();
    }
    conclusion.exit_code()
}

/// The tests of a group that the arguments ask for.
fn group_trials(group: Group, selection: Selection, arguments: &Arguments, report: &Report) -> Vec<Trial> {
    let name = |case: &str| format!("{}::{case}", group.name);
    let is_asked_for = |name: &str| !arguments.is_filtered_out(&Trial::test(name, || Ok(())));
    let cases: Vec<String> =
        group.selected(selection).into_iter().filter(|case| is_asked_for(&name(case))).collect();
    let named: Vec<(String, String)> = cases.into_iter().map(|case| (name(&case), case)).collect();
    let finish = name("afterwards");
    let has_finish = group.is_finished && !named.is_empty() && is_asked_for(&finish);
    let is_whole = named.len() == group.cases.len();
    let group = Group { is_finished: has_finish, ..group };
    let left = Mutex::new(named.len());
    let running = Arc::new(Running {
        group,
        is_whole,
        slot: Mutex::new(Slot::NotYet),
        left,
        all_ended: Condvar::new(),
    });
    let mut trials: Vec<Trial> = named
        .into_iter()
        .map(|(name, case)| {
            let running = Arc::clone(&running);
            report.trial(name, move || running.check(&case))
        })
        .collect();
    if has_finish {
        trials.push(report.trial(finish, move || running.finish()));
    }
    trials
}
