//! Owners that are killed: their machines die with them, and what else they leave is found by the next.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};

use bailiwick_sandbox_microvm::MicrovmBackend;
use bailiwick_testkit::{requires, tests};

use crate::place::{Place, is_possible, machines_of, options, sh, spec, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

const OWNER: &str = "an-owner-that-is-killed";

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
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() != Some(OWNER) {
        return None;
    }
    let state = words.next().expect("a folder");
    let backend = MicrovmBackend::new(options(state.into()));
    wait(async {
        use bailiwick_sandbox::Backend as _;
        let sandbox = backend.create(spec()).await.expect("a sandbox");
        sh(sandbox.as_ref(), "setsid sleep 1000 >/dev/null 2>&1 & echo on").await;
        sandbox.snapshot().await.expect("kept");
        writeln!(std::io::stdout(), "ready").expect("whoever started it listens");
        std::future::pending::<()>().await;
    });
    Some(ExitCode::SUCCESS)
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next() {
    requires!("qemu", is_possible());
    let place = Place::new();
    let state = place.path().join("of-the-owner");
    let started = Command::new("/proc/self/exe").arg(OWNER).arg(&state).stdout(Stdio::piped()).spawn();
    let mut owner = Owner(started.expect("an owner"));
    let mut line = String::new();
    BufReader::new(owner.0.stdout.take().expect("its output")).read_line(&mut line).expect("a word");
    assert_eq!(line, "ready\n");
    let [qemu] = machines_of(owner.0.id())[..] else { panic!("one machine") };
    let number = rustix::process::Pid::from_raw(qemu).expect("a number");
    let handle = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty()).expect("a handle");
    owner.0.kill().expect("killed");
    owner.0.wait().expect("reaped");
    // It dies with its owner: nobody has to come for that.
    let mut waited = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    let most = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut waited, Some(&most)).expect("waited"), 1, "it lives on");
    // The next owner removes the rest: cgroups, and the memory of its snapshot.
    let next = MicrovmBackend::new(options(state.clone()));
    assert_eq!(std::fs::read_dir(state.join("microvm")).expect("a folder").count(), 0);
    let mut left = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let name = entry.file_name();
            assert!(
                !name.to_string_lossy().starts_with(&format!("bailiwick-sandbox-{}-", owner.0.id())),
                "{}",
                name.display()
            );
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    drop(next);
}
