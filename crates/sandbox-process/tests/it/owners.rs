//! Owners that are killed: what they leave is found by the next and removed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};

use bailiwick_testkit::{requires, tests};

use crate::endings::{cgroups, processes_with};
use crate::place::{Place, is_root, sh, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

const OWNER: &str = "an-owner-that-is-killed";
const SANDBOXES: usize = 100;

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(OWNER) {
        return None;
    }
    let mark = arguments.next().expect("a mark");
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
        #[expect(clippy::print_stdout, reason = "the one word that whoever started it waits for")]
        {
            println!("ready {}", place.path().display());
        }
        std::future::pending::<()>().await;
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
    let mut owner = Command::new("/proc/self/exe")
        .args([OWNER, &mark])
        .stdout(Stdio::piped())
        .spawn()
        .expect("an owner");
    let mut line = String::new();
    let stdout = owner.stdout.take().expect("its output");
    BufReader::new(stdout).read_line(&mut line).expect("a word");
    let folder = line.trim().strip_prefix("ready ").expect("it is ready").to_owned();
    assert_eq!(processes_with(&mark).len(), SANDBOXES);
    assert!(cgroups(owner.id()).len() >= SANDBOXES);
    let during = namespaces("pid");
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    // The next owner: as soon as it stands, nothing is left.
    let next = Place::new();
    assert_eq!(cgroups(owner.id()), Vec::<std::path::PathBuf>::new());
    assert_eq!(processes_with(&mark), Vec::<i32>::new());
    let after = namespaces("pid");
    let gone = during.difference(&after).count();
    assert!(gone >= SANDBOXES, "{gone} pid namespaces are gone");
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    assert!(!mounts.contains(&folder), "{mounts}");
    drop(next);
    std::fs::remove_dir_all(folder).expect("the test's own folder");
}
