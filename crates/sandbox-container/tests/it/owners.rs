//! Owners that are killed: what they leave is found by the next and removed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bailiwick_sandbox::Backend as _;
use bailiwick_testkit::{requires, tests};

use crate::engines::{Engine, ask, with_each};
use crate::place::{Place, sh, wait};

tests!(
    an_owner_that_is_killed_leaves_nothing_to_the_next,
    an_owner_that_was_numbered_elsewhere_leaves_nothing_to_the_next_of_its_folder,
);

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
    let folder = place.folder.path().to_owned();
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
        writeln!(stdout, "ready {}", folder.display()).expect("whoever started it listens");
        std::future::pending::<()>().await;
    });
    Some(ExitCode::SUCCESS)
}

/// Starts an owner by these words, and waits until it has its sandboxes. Gives its folder, too.
fn start(words: &[&str], engine: &Engine) -> (Owner, PathBuf) {
    let program = std::env::current_exe().expect("this program");
    let all: Vec<&std::ffi::OsStr> = words.iter().map(std::ffi::OsStr::new).chain([program.as_os_str()]).collect();
    let (first, rest) = all.split_first().expect("a word");
    let mut command = Command::new(first);
    command.args(rest).arg(OWNER).arg(engine.socket()).stdout(Stdio::piped());
    let mut owner = Owner(command.spawn().expect("an owner"));
    let mut line = String::new();
    let stdout = owner.0.stdout.take().expect("its output");
    BufReader::new(stdout).read_line(&mut line).expect("a word");
    (owner, PathBuf::from(line.trim().strip_prefix("ready ").expect("it is ready")))
}

/// Waits until no more are left than these, and sees that they are.
#[track_caller]
fn stay(left: impl Fn() -> usize, many: usize) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while left() > many && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(left(), many);
}

fn an_owner_that_was_numbered_elsewhere_leaves_nothing_to_the_next_of_its_folder() {
    requires!("root", rustix::process::geteuid().is_root());
    with_each(|engine| {
        // As a server in a container: its number is one, and nobody outside has the same.
        let (mut owner, folder) = start(&["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"], engine);
        let files = std::fs::read_dir(folder.join("state/owners")).expect("its file");
        let files: Vec<String> =
            files.map(|file| file.expect("a file").file_name().into_string().expect("a name")).collect();
        let [held] = &files[..] else { panic!("{files:?}") };
        let of_the_owner = format!("label=bailiwick.held={held}");
        let left = || ask(engine, &["ps", "-aq", "--filter", &of_the_owner]).lines().count();
        let next = || Place::with(engine, |options| options.state = folder.join("state"));
        // It lives, and whoever comes meanwhile takes nothing from it.
        wait(async { next().backend.begin().await });
        assert_eq!(left(), 4);
        owner.0.kill().expect("killed");
        owner.0.wait().expect("reaped");
        stay(left, 2);
        // Somebody of another folder cannot know whether it lives, and says so.
        wait(async {
            let other = Place::new(engine);
            let found = other.backend.probe().await.found;
            assert!(found.iter().any(|one| one.contains("cannot be looked at from here")), "{found:?}");
            assert_eq!(left(), 2);
            next().backend.begin().await;
        });
        assert_eq!(left(), 0);
        assert_eq!(std::fs::read_dir(folder.join("state/owners")).expect("a folder").count(), 0);
        std::fs::remove_dir_all(folder).expect("the test's own folder");
    });
}

fn an_owner_that_is_killed_leaves_nothing_to_the_next() {
    with_each(|engine| {
        let (mut owner, folder) = start(&[], engine);
        let of_the_owner = format!("name=bailiwick-sandbox-{}-", owner.0.id());
        let left = || ask(engine, &["ps", "-aq", "--filter", &of_the_owner]).lines().count();
        assert_eq!(left(), 4);
        owner.0.kill().expect("killed");
        owner.0.wait().expect("reaped");
        // Those that were awake end with their streams; those that slept are still there.
        stay(left, 2);
        // Somebody else's, who lives.
        let other = Place::new(engine);
        wait(async {
            let living = other.sandbox().await;
            // The next owner: as soon as it begins, nothing is left.
            let next = Place::new(engine);
            next.backend.begin().await;
            assert_eq!(left(), 0);
            assert_eq!(sh(living.as_ref(), "echo lives").await, "lives\n");
            living.terminate().await.expect("an end");
            next.backend.close().await;
        });
        std::fs::remove_dir_all(folder).expect("the test's own folder");
    });
}
