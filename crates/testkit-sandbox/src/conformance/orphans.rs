//! Owners that are killed: what they leave is found by the next and removed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::stage::{Traces, leave_a_process, mark, traces};
use super::{Place, Setup, Subject, checks};
use crate::{Owner, cgroups_of, entries, is_root, sh, wait};

checks!(an_owner_that_is_killed_leaves_nothing_to_the_next);

/// By this word an owner knows that it is one of the suite's.
const WORD: &str = "of-the-suite";

/// Becomes an owner that only waits to be killed, if this program was started as one. What the subject told comes behind.
pub fn become_owner<S: Subject>(
    subject: impl FnOnce(&mut dyn Iterator<Item = String>) -> S,
) -> Option<ExitCode> {
    let mut told = Owner::told()?;
    if told.next().as_deref() != Some(WORD) {
        return None;
    }
    let state = PathBuf::from(told.next().expect("a directory"));
    let subject = subject(&mut told);
    let mark = mark(&state);
    let backend = subject.backend(Setup { state, ..Setup::default() });
    wait(async {
        let mut all = Vec::new();
        for number in 0..subject.claims().orphans {
            let sandbox = backend.create(subject.spec()).await.expect("a sandbox");
            leave_a_process(sandbox.as_ref(), &mark).await;
            match number % 3 {
                // One that sleeps does not see that its owner is gone.
                0 => sandbox.hibernate().await.expect("asleep"),
                1 => drop(sandbox.snapshot().await.expect("kept")),
                _ => {}
            }
            all.push(sandbox);
        }
        Owner::stay("").await;
    });
    Some(ExitCode::SUCCESS)
}

/// Everything in a directory that has this text in its name.
fn named(state: &Path, text: &str) -> Vec<PathBuf> {
    let all = if state.exists() { entries(state) } else { Vec::new() };
    all.into_iter().filter(|path| path.display().to_string().contains(text)).collect()
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next(subject: &dyn Subject) {
    let place = Place::new(subject);
    let state = place.path().join("of-the-owner");
    let mark = mark(&state);
    let (mut owner, _) = Owner::start(Owner::again().arg(WORD).arg(&state).args(subject.told()));
    let id = owner.id();
    let label = format!("bailiwick-sandbox-{id}-");
    assert_ne!(traces(subject, &state, id, &mark), Traces::default());
    wait(async {
        // Somebody else's, who lives, and was there before.
        let living = place.sandbox().await;
        owner.kill();
        subject.check_killed(&state, id);
        // The next owner: as soon as it begins, nothing is left.
        let next = subject.backend(Setup { state: state.clone(), ..Setup::default() });
        next.begin().await;
        assert_eq!(traces(subject, &state, id, &mark), Traces::default());
        assert_eq!(named(&state, &label), Vec::<PathBuf>::new());
        if is_root() {
            assert_eq!(cgroups_of(&label), Vec::<PathBuf>::new());
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
        assert!(!mounts.contains(&state.display().to_string()), "{mounts}");
        assert_eq!(sh(living.as_ref(), "echo lives").await, "lives\n");
        living.terminate().await.expect("ended");
        next.close().await;
    });
}
