//! Owners that are killed: what they leave is found by the next and removed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bailiwick_sandbox::Backend as _;
use bailiwick_testkit::tests;

use crate::engines::{ask, with_each};
use crate::place::{Place, sh, wait};

tests!(an_owner_that_is_killed_leaves_nothing_to_the_next);

const OWNER: &str = "an-owner-that-is-killed";

/// Ends an owner whatever becomes of the test.
struct Owner(Child);

impl Drop for Owner {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(OWNER) {
        return None;
    }
    let socket = PathBuf::from(arguments.next().expect("a socket"));
    let place = Place::at(&socket, |_| {});
    wait(async {
        let mut all = Vec::new();
        for number in 0..4 {
            let sandbox = place.sandbox().await;
            sh(sandbox.as_ref(), "setsid sleep 1000 >/dev/null 2>&1 & echo on").await;
            // One that sleeps does not see that its owner is gone.
            if number % 2 == 0 {
                sandbox.hibernate().await.expect("asleep");
            }
            all.push(sandbox);
        }
        let mut stdout = std::io::stdout();
        writeln!(stdout, "ready {}", place.folder.path().display()).expect("whoever started it listens");
        std::future::pending::<()>().await;
    });
    Some(ExitCode::SUCCESS)
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next() {
    with_each(|engine| {
        let mut command = Command::new("/proc/self/exe");
        command.arg(OWNER).arg(engine.socket()).stdout(Stdio::piped());
        let mut owner = Owner(command.spawn().expect("an owner"));
        let mut line = String::new();
        let stdout = owner.0.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a word");
        let folder = line.trim().strip_prefix("ready ").expect("it is ready").to_owned();
        let of_the_owner = format!("name=bailiwick-sandbox-{}-", owner.0.id());
        let left = || ask(engine, &["ps", "-aq", "--filter", &of_the_owner]).lines().count();
        assert_eq!(left(), 4);
        owner.0.kill().expect("killed");
        owner.0.wait().expect("reaped");
        // Those that were awake end with their streams; those that slept are still there.
        let deadline = Instant::now() + Duration::from_secs(30);
        while left() > 2 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(left(), 2);
        // Somebody else's, who lives.
        let other = Place::new(engine);
        wait(async {
            let living = other.sandbox().await;
            // The next owner: as soon as it has done anything, nothing is left.
            let next = Place::new(engine);
            next.sandbox().await.terminate().await.expect("an end");
            assert_eq!(left(), 0);
            assert_eq!(sh(living.as_ref(), "echo lives").await, "lives\n");
            living.terminate().await.expect("an end");
            next.backend.close().await;
        });
        std::fs::remove_dir_all(folder).expect("the test's own folder");
    });
}
