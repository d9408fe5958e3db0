//! Mounts at a server while somebody exchanges directories below `fs.mounts` for links that lead out: to a directory that only root
//! may enter, and to the server's own data folder. Every sandbox sees what lies below the entry, or is refused.
//!
//! `BAILIWICK_RACE_CREATES` says how many sandboxes are asked for on each backend, in place of a few.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "files of the test's own, changed behind a server's back, and a count for runs by hand"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick_testkit::{Backing, Program, requires};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::sandboxes::Client;
use super::{Serving, bailiwick};

/// The variable that says how many sandboxes are asked for.
const CREATES: &str = "BAILIWICK_RACE_CREATES";
/// From how many on both outcomes have to be seen.
const ENOUGH: usize = 40;

/// What is asked for in turn.
#[derive(Debug, Clone, Copy)]
enum Ask {
    /// A writable mount of a directory.
    Mount,
    /// A writable mount of a file, whose directory may lead to the server's own key.
    Key,
    /// An overlay.
    Overlay,
}

/// The directories of a race.
struct Stage {
    entry: PathBuf,
    outside: PathBuf,
}

impl Stage {
    fn new(program: &Program, data: &Path) -> Self {
        let top = program.working_folder().canonicalize().unwrap();
        let stage = Self { entry: top.join("entry"), outside: top.join("outside") };
        let files = [
            (stage.entry.join("d/sub/mark"), "inside"),
            (stage.entry.join("k/operator.key"), "inside"),
            (stage.outside.join("sub/mark"), "outside"),
        ];
        for (file, text) in files {
            let above = file.parent().unwrap();
            fs::create_dir_all(above).unwrap();
            fs::write(&file, text).unwrap();
            fs::set_permissions(above, Permissions::from_mode(0o777)).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        }
        fs::set_permissions(&stage.outside, Permissions::from_mode(0o700)).unwrap();
        symlink(&stage.outside, stage.entry.join("out")).unwrap();
        symlink(data, stage.entry.join("data")).unwrap();
        stage
    }

    /// Exchanges directories and links until told to end.
    fn swap(&self, end: &AtomicBool) {
        while !end.load(Ordering::Relaxed) {
            for (one, other) in [("d", "out"), ("k", "data")] {
                let (one, other) = (self.entry.join(one), self.entry.join(other));
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            }
        }
    }

    /// What is asked for, and the command that shows what it led to.
    fn wish(&self, ask: Ask, name: &str) -> (Value, &'static str) {
        let (sub, key) = (self.entry.join("d/sub"), self.entry.join("k/operator.key"));
        match ask {
            Ask::Mount => (
                json!({"name": name, "mounts": [{"from": sub, "to": "/in", "writable": true}]}),
                "cat /in/mark; echo written > /in/written",
            ),
            Ask::Key => (
                json!({"name": name, "mounts": [{"from": key, "to": "/in/key", "writable": true}]}),
                "cat /in/key",
            ),
            Ask::Overlay => (json!({"name": name, "overlays": [{"from": sub, "to": "/in"}]}), "cat /in/mark"),
        }
    }
}

/// Asks a server for sandboxes on a backend during the race.
fn race(backend: &str, few: usize, asks: &[Ask]) {
    let path = Path::new(env!("CARGO_BIN_EXE_bailiwick"));
    let Some(backing) = Backing::of(path, Some(backend), "") else { return };
    let variables = backing.variables.iter();
    let program = variables.fold(bailiwick(), |program, (name, value)| program.with_variable(name, value));
    let data = program.home().join(".local/share/bailiwick");
    let stage = Stage::new(&program, &data);
    let entry = stage.entry.display().to_string();
    let server = Serving::start(&program, &["--set", &format!("fs.mounts={entry}")]);
    let client = Client::new(&program, &server, "author");
    assert!(data.join("operator.key").is_file(), "the key that the race is about");
    let tries = std::env::var(CREATES).ok().map_or(few, |text| text.parse().unwrap());
    let (mut inside, mut refused) = (0, 0);
    let end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| stage.swap(&end));
        let raced = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for (number, ask) in asks.iter().cycle().take(tries).enumerate() {
                let name = format!("race-{number}");
                let (wish, command) = stage.wish(*ask, &name);
                let (status, answer) = client.ask("POST", "/v1/sandboxes", wish.to_string().as_bytes());
                if status != 201 {
                    let answer = String::from_utf8_lossy(&answer);
                    assert!(
                        answer.contains("cannot be mounted"),
                        "{ask:?} after {number}: {status} {answer}"
                    );
                    refused += 1;
                    continue;
                }
                let exec = format!("/v1/sandboxes/{name}/exec");
                let ran = client.json("POST", &exec, &json!({"shell": command}), 200);
                assert_eq!(ran.get("stdout"), Some(&json!("inside")), "{ask:?} after {number}: {ran:#}");
                client.json("DELETE", &format!("/v1/sandboxes/{name}"), &Value::Null, 204);
                inside += 1;
            }
        }));
        end.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        raced.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    assert!(tries < ENOUGH || inside > 0 && refused > 0, "{inside} stood, {refused} were refused: no race");
    assert_eq!(fs::read_dir(stage.outside.join("sub")).unwrap().count(), 1, "nothing is written outside");
    assert_eq!(fs::read_to_string(stage.outside.join("sub/mark")).unwrap(), "outside");
    server.end();
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let staged = mounted.lines().find(|line| line.contains("bailiwick-staged") && line.contains(&entry));
    assert_eq!(staged, None, "a staged mount is left");
}

#[test]
fn a_race_for_a_mount_never_leads_out_on_process() {
    requires!("sandboxes", super::has_sandboxes());
    race("process", 60, &[Ask::Mount, Ask::Key, Ask::Overlay]);
}

#[test]
fn a_race_for_a_mount_never_leads_out_on_container() {
    race("container", 12, &[Ask::Mount, Ask::Key]);
}

#[test]
fn a_race_for_a_mount_never_leads_out_on_podman() {
    race("podman", 12, &[Ask::Mount, Ask::Key]);
}

#[test]
fn a_race_for_a_mount_never_leads_out_on_gvisor() {
    race("gvisor", 12, &[Ask::Mount, Ask::Key]);
}

#[test]
fn a_race_for_a_mount_never_leads_out_on_microvm() {
    race("microvm", 3, &[Ask::Mount, Ask::Key]);
}
