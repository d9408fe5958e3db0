//! What an owner leaves running when it is killed: its nurseries and cells, by the kernel's account.

use std::time::{Duration, Instant};

use bailiwick_testkit::Running;

/// How long what has to happen is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// One process. Its number may be given to another, its start may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pid: u32,
    parent: u32,
    state: char,
    started: u64,
}

/// Kills a process where it stands; gives everything that stood below it then.
pub(super) fn kill(running: &Running) -> Vec<Process> {
    // It stands still while its children are counted, so that none is missed.
    running.stop();
    wait_until("it stands still", || one(running.id()).is_none_or(|found| matches!(found.state, 'T' | 'Z')));
    let below = below(running.id());
    running.kill();
    below
}

/// Waits until none of them runs.
pub(super) fn wait_until_gone(processes: &[Process]) {
    wait_until("the owner's cells end", || {
        processes.iter().all(|process| {
            one(process.pid).is_none_or(|found| found.started != process.started || found.state == 'Z')
        })
    });
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the kernel tells nobody when a stranger's process ends")]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn below(pid: u32) -> Vec<Process> {
    let all = all();
    let mut found: Vec<Process> = all.iter().filter(|process| process.parent == pid).copied().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.pid) {
        found.extend(all.iter().filter(|process| process.parent == parent));
        next += 1;
    }
    found
}

fn all() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter_map(one).collect()
}

#[expect(clippy::disallowed_methods, reason = "small files of the kernel")]
fn one(pid: u32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses included.
    let rest: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_whitespace().collect();
    let state = rest.first()?.chars().next()?;
    Some(Process { pid, parent: rest.get(1)?.parse().ok()?, state, started: rest.get(19)?.parse().ok()? })
}
