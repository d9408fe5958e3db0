//! Owners that are killed: what they leave is found by the next and removed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bailiwick_sandbox::Backend as _;
use bailiwick_testkit::{requires, tests};
use bailiwick_testkit_sandbox::{Owner, is_root};

use crate::engines::{ask, with_each};
use crate::place::{Place, sh, wait};

tests!(an_owner_that_was_numbered_elsewhere_leaves_nothing_to_the_next_of_its_folder,);

/// Becomes an owner that only waits to be killed, if this program was started as one.
pub(crate) fn become_one() -> Option<ExitCode> {
    let socket = PathBuf::from(Owner::told()?.next().expect("a socket"));
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
        Owner::stay(&place.folder.path().display().to_string()).await;
    });
    Some(ExitCode::SUCCESS)
}

/// Waits until no more are left than these, and sees that they are.
#[track_caller]
pub(crate) fn comes_to(left: impl Fn() -> usize, many: usize) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while left() > many && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(left(), many);
}

fn an_owner_that_was_numbered_elsewhere_leaves_nothing_to_the_next_of_its_folder() {
    requires!("root", is_root());
    with_each(|engine| {
        // As a server in a container: its number is one, and nobody outside has the same.
        let mut command = Owner::behind("unshare", &["--pid", "--fork", "--mount-proc", "--kill-child"]);
        let (mut owner, folder) = Owner::start(command.arg(engine.socket()));
        let folder = PathBuf::from(folder);
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
        owner.kill();
        comes_to(left, 2);
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
