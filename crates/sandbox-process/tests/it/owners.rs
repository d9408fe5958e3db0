//! Owners that are killed: what they leave is found by the next and removed.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::{Owner, processes_with};

use crate::endings::cgroups;
use crate::place::{Place, is_root, sh, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

/// A variable, since what is counted is found by words of command lines.
const MARK: &str = "THE_MARK_OF_ITS_SANDBOXES";
const SANDBOXES: usize = 100;

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    let _nothing = Owner::told()?;
    let mark = std::env::var(MARK).expect("a mark");
    let place = Place::new();
    wait(async {
        let mut all = Vec::new();
        for number in 0..SANDBOXES {
            let sandbox = place.sandbox().await;
            sh(sandbox.as_ref(), &format!("setsid sleep {mark} >/dev/null 2>&1 & echo on")).await;
            if number % 10 == 0 {
                sandbox.hibernate().await.expect("asleep");
            }
            all.push(sandbox);
        }
        Owner::stay(&place.path().display().to_string()).await;
    });
    Some(ExitCode::SUCCESS)
}

/// Namespaces that processes live in.
fn namespaces(kind: &str) -> std::collections::BTreeSet<String> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| std::fs::read_link(entry.path().join("ns").join(kind)).ok())
        .map(|link| link.display().to_string())
        .collect()
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next() {
    requires!("root", is_root());
    let place = Place::new();
    let mark = crate::endings::mark(&place);
    let (mut owner, folder) = Owner::start(Owner::again().env(MARK, &mark));
    assert_eq!(processes_with(&mark).len(), SANDBOXES);
    assert!(cgroups(owner.id()).len() >= SANDBOXES);
    let during = namespaces("pid");
    owner.kill();
    // The next owner: as soon as it stands, nothing is left.
    let next = Place::new();
    assert_eq!(cgroups(owner.id()), Vec::<std::path::PathBuf>::new());
    assert_eq!(processes_with(&mark), Vec::<i32>::new());
    // Whoever adopts the dead reaps them in their own time; until then their namespaces are there.
    let deadline = Instant::now() + Duration::from_secs(30);
    let gone = || during.difference(&namespaces("pid")).count();
    while gone() < SANDBOXES && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(gone() >= SANDBOXES, "{} pid namespaces are gone", gone());
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    assert!(!mounts.contains(&folder), "{mounts}");
    drop(next);
    std::fs::remove_dir_all(folder).expect("the test's own folder");
}
