//! A commit that is killed at every one of its steps, and what the next start makes of it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use bailiwick_overlay::{
    Baseline, Commit, Ended, Fault, Host, Journals, LinksOut, Moment, Recovered, Steps, View, recover,
};
use bailiwick_testkit::{requires, tests};

use crate::place::{self, Place, Tree};

tests!(
    a_commit_that_is_killed_anywhere_is_done_or_undone,
    a_recovery_that_is_killed_is_recovered,
    recovery_leaves_alone_what_somebody_else_changed,
    a_journal_that_is_damaged_or_homeless_is_kept,
    a_journal_that_is_worked_on_is_left_alone,
    a_commit_that_fails_on_the_way_is_carried_on,
);

const WORD: &str = "--commit-and-be-killed";
const WORK: &str =
    "printf 3 >> a; chmod 700 b; rm -r d; mkdir d; printf 1 > d/x; rm more; mkdir more; printf q > more/q
    rm l; ln -s b l; mkdir n; printf 1 > n/o; chmod 500 n; rm -r z; printf z > z";

/// Kills this process, as the kernel would, at its nth step.
struct Killed(u32);

impl Steps for Killed {
    fn reached(&mut self, _step: &'static str) {
        if self.0 == 0 {
            let this = rustix::process::getpid();
            rustix::process::kill_process(this, rustix::process::Signal::KILL).expect("it is sent");
            // It comes before this returns; were it late, nothing more would be done.
            loop {
                std::thread::yield_now();
            }
        }
        self.0 -= 1;
    }
}

/// This program as one that commits, or recovers, and is killed: `WORD what step lower upper journals seconds nanos`.
pub(crate) fn become_one() -> Option<ExitCode> {
    let mut words = std::env::args().skip(1);
    if words.next()? != WORD {
        return None;
    }
    let mut next = || words.next().expect("a word");
    let what = next();
    let mut killed = Killed(next().parse().expect("a number"));
    let (lower, upper, journals) = (next(), next(), next());
    let journals = Journals::open(Path::new(&journals)).expect("journals");
    if what == "recover" {
        recover(&journals, &mut killed).expect("recovered");
        return Some(ExitCode::SUCCESS);
    }
    let began =
        Moment { seconds: next().parse().expect("a number"), nanos: next().parse().expect("a number") };
    let host = Host::open(Path::new(&lower)).expect("the folder");
    let upper = std::fs::File::open(upper).expect("the folder on top");
    let mut view = View::new(host, upper.into(), Baseline::at(began));
    let commit = Commit { links_out: LinksOut::Write, ..Commit::default() };
    view.commit(&commit, &journals, &mut killed).expect("a commit");
    Some(ExitCode::SUCCESS)
}

/// The words that start it.
pub(crate) fn words(place: &mut Place, what: &str, step: u32) -> Vec<OsString> {
    let began = place.begin();
    let program = std::env::current_exe().expect("this program");
    let step = step.to_string();
    let mut words = vec![program.into_os_string()];
    words.extend([WORD, what, step.as_str()].map(OsString::from));
    words.extend([place.lower(), place.upper(), place.journals_path()].map(OsString::from));
    words.extend([began.seconds.to_string(), began.nanos.to_string()].map(OsString::from));
    words
}

/// Runs it; whether it was killed.
fn killed_at(place: &mut Place, what: &str, step: u32) -> bool {
    let words = words(place, what, step);
    let mut command = Command::new(&words[0]);
    let output = command.args(&words[1..]).output().expect("it runs");
    match output.status.signal() {
        Some(9) => true,
        _ if output.status.success() => false,
        _ => panic!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)),
    }
}

fn recovered(place: &Place) -> Vec<Recovered> {
    recover(&place.journals(), &mut ()).expect("recovered")
}

fn again(place: &Place, made: &Tree) -> Place {
    let next = Place::new("true");
    let copy = |from: std::path::PathBuf, to: std::path::PathBuf| {
        let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().expect("cp");
        assert!(status.success());
    };
    copy(place.lower(), next.lower());
    copy(place.upper(), next.upper());
    assert_eq!(next.host_tree(), *made);
    next
}

fn a_commit_that_is_killed_anywhere_is_done_or_undone() {
    requires!("overlayfs", place::is_possible());
    let mut first = Place::usual();
    let old = first.host_tree();
    first.inside(WORK);
    let new = first.seen();
    let (mut undone, mut done, mut half) = (0, 0, 0);
    for step in 0.. {
        let mut place = again(&first, &old);
        let was_killed = killed_at(&mut place, "commit", step);
        let between = place.host_tree();
        let is_ready = std::fs::read_dir(place.journals_path())
            .expect("journals")
            .any(|entry| entry.expect("an entry").file_name().to_string_lossy().starts_with("ready-"));
        // Not even before recovery is there half a file: what is there by its own name is the old or the new.
        for (name, entry) in between.iter().filter(|(name, _)| !name.contains(".bailiwick-")) {
            let is_whole = entry.0 == 'd' || old.get(name) == Some(entry) || new.get(name) == Some(entry);
            assert!(is_whole, "step {step}: {name} is {entry:?}");
        }
        half += u32::from(between != old && between != new);
        recovered(&place);
        let after = place.host_tree();
        if is_ready || !was_killed {
            assert_eq!(after, new, "step {step}");
            done += 1;
        } else if after == new {
            // The journal was done and not yet taken away.
            assert_eq!(between, new, "step {step}");
            done += 1;
        } else {
            assert_eq!(after, old, "step {step}");
            undone += 1;
        }
        assert!(place::tree(&place.journals_path()).is_empty(), "step {step}");
        if !was_killed {
            break;
        }
    }
    assert!(undone > 10 && done > 20 && half > 10, "{undone} undone, {done} done, {half} were half");
}

fn a_recovery_that_is_killed_is_recovered() {
    requires!("overlayfs", place::is_possible());
    let mut first = Place::usual();
    let old = first.host_tree();
    first.inside(WORK);
    let new = first.seen();
    // In the middle of writing; how many steps there are before is seen by counting.
    let middle = 40;
    for step in 0.. {
        let mut place = again(&first, &old);
        assert!(killed_at(&mut place, "commit", middle));
        let was_killed = killed_at(&mut place, "recover", step);
        recovered(&place);
        let after = place.host_tree();
        assert_eq!(after, new, "step {step}");
        assert!(place::tree(&place.journals_path()).is_empty(), "step {step}");
        if !was_killed {
            assert!(step > 5, "there were only {step} steps");
            break;
        }
    }
}

/// A place whose commit was killed right after its journal was ready.
fn ready() -> Place {
    let mut first = Place::usual();
    let old = first.host_tree();
    first.inside(WORK);
    for step in 0.. {
        let mut place = again(&first, &old);
        assert!(killed_at(&mut place, "commit", step), "there is a step at which it is ready");
        let mut names = std::fs::read_dir(place.journals_path()).expect("journals");
        if names.any(|name| name.expect("a name").file_name().to_string_lossy().starts_with("ready-")) {
            assert_eq!(place.host_tree(), old);
            return place;
        }
    }
    panic!("it is never ready")
}

fn recovery_leaves_alone_what_somebody_else_changed() {
    requires!("overlayfs", place::is_possible());
    let place = ready();
    place.on_the_host(
        "printf host > a; printf host > d/host; mkdir n; printf host > n/o; rm l; printf host > l",
    );
    let found = recovered(&place);
    let [Recovered { ended: Ended::RolledForward { left, .. }, .. }] = found.as_slice() else {
        panic!("{found:?}");
    };
    let left: Vec<String> = left.iter().map(|left| format!("{} {:?}", left.path, left.finding)).collect();
    assert_eq!(left.join(", "), "a HostChanged, l HostChanged, n/o HostAdded");
    let tree = place.host_tree();
    for name in ["a", "d/host", "n/o", "l"] {
        assert_eq!(tree[name].2, b"host", "{name}");
    }
    assert_eq!(tree["more/q"].2, b"q");
    assert_eq!(tree["z"].2, b"z");
}

fn a_journal_that_is_damaged_or_homeless_is_kept() {
    requires!("overlayfs", place::is_possible());
    let check = |harm: &str, folder: fn(&Place) -> std::path::PathBuf| {
        let place = ready();
        let old = place.host_tree();
        place::shell(&folder(&place), harm);
        let found = recovered(&place);
        assert!(
            matches!(found.as_slice(), [Recovered { ended: Ended::Kept { .. }, .. }]),
            "{harm}: {found:?}"
        );
        (place, old)
    };
    let (place, old) = check("for d in ready-*; do printf x > $d/plan.json; done", Place::journals_path);
    assert_eq!(place.host_tree(), old);
    let (place, old) = check("for f in ready-*/[0-9]*; do printf x >> $f; done", Place::journals_path);
    let tree = place.host_tree();
    assert_eq!(tree["a"], old["a"], "what does not have its hash is not written");
    let (place, _) = check("mv ../lower ../moved; mkdir ../lower", Place::lower);
    assert!(place.host_tree().is_empty(), "another folder of the same path is not written to");
    let journals = place.journals();
    let id = recovered(&place).remove(0).id;
    assert!(journals.abandon(&id).expect("abandoned"));
    assert!(!journals.abandon(&id).expect("it is gone"));
    assert!(recovered(&place).is_empty());
}

fn a_journal_that_is_worked_on_is_left_alone() {
    struct Recovering<'a>(&'a Place, u32);
    impl Steps for Recovering<'_> {
        fn reached(&mut self, _step: &'static str) {
            let found = recover(&self.0.journals(), &mut ());
            assert!(matches!(&found, Ok(found) if found.is_empty()), "{found:?}");
            self.1 += 1;
        }
    }
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a");
    let mut view = place.view();
    let mut steps = Recovering(&place, 0);
    let done: Result<_, Fault> = view.commit(&Commit::default(), &place.journals(), &mut steps);
    assert!(done.is_ok() && steps.1 > 5, "{done:?}");
    assert_eq!(place.host_tree(), place.seen());
}

fn a_commit_that_fails_on_the_way_is_carried_on() {
    /// Moves staged content away when the journal is ready, so that there is nothing to write.
    struct Failing<'a>(&'a Place);
    impl Steps for Failing<'_> {
        fn reached(&mut self, step: &'static str) {
            if step == "mark the journal ready" {
                place::shell(&self.0.journals_path(), "mv staging-*/1 ../away");
            }
        }
    }
    requires!("overlayfs", place::is_possible());
    let mut place = Place::usual();
    place.inside("printf 3 >> a; printf 3 > new; rm more");
    let mut view = place.view();
    let result = view.commit(&Commit::default(), &place.journals(), &mut Failing(&place));
    assert!(matches!(result, Err(Fault::Halfway { .. })), "{result:?}");
    assert!(!place.host_tree().contains_key("more") && !place.host_tree().contains_key("new"));
    place::shell(&place.journals_path(), "for d in ready-*; do mv ../away $d/1; done");
    let found = recovered(&place);
    let [Recovered { ended: Ended::RolledForward { left, .. }, .. }] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(place.host_tree(), place.seen());
}
