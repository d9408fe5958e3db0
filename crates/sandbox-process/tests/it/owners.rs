//! Owners that are killed: what they leave is found by the next and removed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bailiwick_testkit::{requires, tests};

use crate::endings::{cgroups, processes_with};
use crate::place::{Place, is_root, sh, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

const OWNER: &str = "an-owner-that-is-killed";
/// A variable, since what is counted is found by words of command lines.
const MARK: &str = "THE_MARK_OF_ITS_SANDBOXES";
const SANDBOXES: usize = 100;

/// Ends an owner whatever becomes of the test.
struct Owner(std::process::Child);

impl Drop for Owner {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    if std::env::args().nth(1).as_deref() != Some(OWNER) {
        return None;
    }
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
        let mut stdout = std::io::stdout();
        writeln!(stdout, "ready {}", place.path().display()).expect("whoever started it listens");
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
    let mut owner = Owner(
        Command::new("/proc/self/exe")
            .arg(OWNER)
            .env(MARK, &mark)
            .stdout(Stdio::piped())
            .spawn()
            .expect("an owner"),
    );
    let mut line = String::new();
    let stdout = owner.0.stdout.take().expect("its output");
    BufReader::new(stdout).read_line(&mut line).expect("a word");
    let folder = line.trim().strip_prefix("ready ").expect("it is ready").to_owned();
    assert_eq!(processes_with(&mark).len(), SANDBOXES);
    assert!(cgroups(owner.0.id()).len() >= SANDBOXES);
    let during = namespaces("pid");
    owner.0.kill().expect("killed");
    owner.0.wait().expect("reaped");
    // The next owner: as soon as it stands, nothing is left.
    let next = Place::new();
    assert_eq!(cgroups(owner.0.id()), Vec::<std::path::PathBuf>::new());
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
