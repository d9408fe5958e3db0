//! Real processes: killed owners, races for the lock, the mask of a process, other users.
//!
//! A test here runs its binary again, for that test alone, and tells it what to be.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use bailiwick_sys::privileges;
use bailiwick_testkit::requires;
use bailiwick_types::ErrorCode;
use tokio::io::AsyncReadExt as _;

use super::{Stage, alone, call, list, refused};
use crate::owner::performs::{Boxed, Opens, Performs};
use crate::owner::socket::{self, NoConnection};
use crate::owner::{Folder, Ownership};
use crate::{Action, Caller, Desk, Refusal, Reply};

/// Tells the second process which part it has, and where.
const PART: &str = "BAILIWICK_TEST_PART";

/// The part and the data folder of this process, if it is a second one.
#[expect(clippy::disallowed_methods, reason = "read by tests only, which have no settings")]
fn part() -> Option<(String, PathBuf)> {
    let told = std::env::var(PART).ok()?;
    let (part, data) = told.split_once(':').expect("a part and a folder");
    Some((part.to_owned(), PathBuf::from(data)))
}

/// Runs a test again, as a process with this part, by a shell with this mask.
#[expect(clippy::disallowed_methods, reason = "the tests' own binary")]
fn again(test: &str, part: &str, data: &Path, mask: &str) -> Child {
    let program = std::env::current_exe().unwrap();
    let test = format!("owner::tests::processes::{test}");
    Command::new("sh")
        .arg("-c")
        .arg(format!("umask {mask}; exec \"$0\" \"$@\""))
        .arg(program)
        .args(["--exact", &test, "--nocapture"])
        .env(PART, format!("{part}:{}", data.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a process says a word on a line of its own.
fn says(child: &mut Child, word: &str) {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == word), "the process did not say {word}");
}

/// How a second process talks to the first.
fn say(word: &str) {
    // The harness writes the test's name before it, without ending the line.
    writeln!(std::io::stdout(), "\n{word}").unwrap();
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Performs nothing: says so, and hangs.
struct Hangs;

impl Performs for Hangs {
    fn perform(&self, _caller: Caller, _action: Action) -> Boxed<Result<Reply, Refusal>> {
        Box::pin(async {
            say("begun");
            std::future::pending().await
        })
    }

    fn close(&self) -> Boxed<Result<(), Refusal>> {
        Box::pin(async { Ok(()) })
    }
}

struct Hanging(PathBuf);

impl Opens for Hanging {
    fn data(&self) -> &Path {
        &self.0
    }

    fn open(self: Box<Self>, _ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async { Ok(Arc::new(Hangs) as Arc<dyn Performs>) })
    }
}

#[test]
fn an_owner_that_is_killed_at_work_is_told_and_its_folder_is_free() {
    if let Some((_, data)) = part() {
        return run(async {
            let _desk = Desk::open(Hanging(data)).await.unwrap();
            say("ready");
            std::future::pending::<()>().await;
        });
    }
    for action in [list(), call("echo")] {
        let stage = Stage::new();
        let test = "an_owner_that_is_killed_at_work_is_told_and_its_folder_is_free";
        let mut child = again(test, "owner", &stage.data, "077");
        says(&mut child, "ready");
        run(async {
            let desk = stage.desk().await;
            assert!(!desk.is_owner());
            let is_repeated = action == list();
            let asked = tokio::spawn(async move {
                let reply = desk.perform(alone(), action).await;
                (reply, desk)
            });
            let killed = tokio::task::spawn_blocking(move || {
                says(&mut child, "begun");
                child.kill().unwrap();
                child.wait().unwrap();
            });
            killed.await.unwrap();
            let (reply, desk) = asked.await.unwrap();
            if is_repeated {
                reply.unwrap();
            } else {
                refused(reply, ErrorCode::Unavailable, "ended while it worked on this");
            }
            desk.perform(alone(), list()).await.unwrap();
            assert!(desk.is_owner());
        });
    }
}

#[test]
fn an_owner_that_is_killed_before_it_took_an_action_is_succeeded_by_who_asked() {
    if let Some((_, data)) = part() {
        return run(async {
            let ownership = Folder::hold(&data).unwrap().lock().unwrap().unwrap();
            let (listener, _named) = socket::listen(&ownership).unwrap();
            say("ready");
            let (mut stream, _) = listener.accept().await.unwrap();
            let hello = crate::owner::frame::encode(&crate::owner::message::Hello::ours()).unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut stream, &hello).await.unwrap();
            stream.readable().await.unwrap();
            say("asked");
            std::future::pending::<()>().await;
        });
    }
    let stage = Stage::new();
    let test = "an_owner_that_is_killed_before_it_took_an_action_is_succeeded_by_who_asked";
    let mut child = again(test, "owner", &stage.data, "077");
    says(&mut child, "ready");
    run(async {
        let desk = stage.desk().await;
        let asked = tokio::spawn(async move { (desk.perform(alone(), call("echo")).await, desk.is_owner()) });
        let killed = tokio::task::spawn_blocking(move || {
            says(&mut child, "asked");
            child.kill().unwrap();
            child.wait().unwrap();
        });
        killed.await.unwrap();
        let (reply, is_owner) = asked.await.unwrap();
        reply.unwrap();
        assert!(is_owner);
        assert_eq!(stage.book.count("begin tool.call"), 1);
    });
}

/// Somebody who finds out whether they are alone: a mark can be made once.
struct Marks(PathBuf);

impl Marks {
    fn mark(&self) -> PathBuf {
        self.0.join("somebody is in")
    }
}

impl Opens for Marks {
    fn data(&self) -> &Path {
        &self.0
    }

    fn open(self: Box<Self>, _ownership: Ownership) -> Boxed<Result<Arc<dyn Performs>, Refusal>> {
        Box::pin(async move {
            std::fs::OpenOptions::new().write(true).create_new(true).open(self.mark()).expect("nobody else");
            Ok(Arc::new(*self) as Arc<dyn Performs>)
        })
    }
}

impl Performs for Marks {
    fn perform(&self, _caller: Caller, _action: Action) -> Boxed<Result<Reply, Refusal>> {
        assert!(self.mark().exists());
        Box::pin(async { Ok(Reply::Done) })
    }

    fn close(&self) -> Boxed<Result<(), Refusal>> {
        std::fs::remove_file(self.mark()).expect("the mark of this owner");
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn of_processes_that_race_for_a_folder_one_owns_it_at_any_time() {
    if let Some((_, data)) = part() {
        return run(async {
            for _ in 0..50 {
                let desk = Desk::open(Marks(data.clone())).await.unwrap();
                desk.perform(alone(), call("anything")).await.unwrap();
                desk.close().await.unwrap();
            }
        });
    }
    let stage = Stage::new();
    let test = "of_processes_that_race_for_a_folder_one_owns_it_at_any_time";
    let racers: Vec<Child> = (0..2).map(|_| again(test, "racer", &stage.data, "077")).collect();
    for racer in racers {
        let output = racer.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(" 1 passed;"), "{said}");
    }
    assert!(!stage.data.join("somebody is in").exists());
}

#[test]
fn whatever_the_mask_lock_and_socket_are_for_their_owner_alone() {
    if let Some((_, data)) = part() {
        // As a process that holds secrets is; the kernel then gives its files in /proc to root.
        bailiwick_secrets::hide_this_process().unwrap();
        return run(async {
            let desk = Desk::open(Hanging(data.clone())).await.unwrap();
            for (name, mode) in [("", 0o700), ("owner.lock", 0o600), ("owner.sock", 0o600)] {
                let found = std::fs::symlink_metadata(data.join(name)).unwrap().permissions().mode();
                assert_eq!(found & 0o777, mode, "{name}");
            }
            assert!(!Desk::open(Hanging(data)).await.unwrap().is_owner());
            desk.close().await.unwrap();
        });
    }
    for mask in ["000", "077", "277"] {
        let stage = Stage::new();
        if mask == "277" {
            // A folder that is made under it could not be written.
            std::fs::create_dir(&stage.data).unwrap();
            std::fs::set_permissions(&stage.data, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        let test = "whatever_the_mask_lock_and_socket_are_for_their_owner_alone";
        let output = again(test, "masked", &stage.data, mask).wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(" 1 passed;"), "{mask}: {said}");
    }
}

/// Does something as a user who is nobody: a user belongs to a thread.
fn as_nobody<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        privileges::become_user(65534, 65534).unwrap();
        act()
    });
    thread.join().unwrap()
}

fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn another_user_gets_no_word_out_of_an_owner() {
    requires!("root", privileges::identity().0 == 0);
    let stage = Stage::new();
    let _owner = stage.desk().await;
    let client = stage.desk().await;
    let path = stage.data.join("owner.sock");
    // All that keeps others out but the word of the kernel.
    open_to_all(stage.around.path(), 0o755);
    open_to_all(&stage.data, 0o755);
    open_to_all(&path, 0o666);
    let stranger = as_nobody(move || std::os::unix::net::UnixStream::connect(path).unwrap());
    stranger.set_nonblocking(true).unwrap();
    let mut stranger = tokio::net::UnixStream::from_std(stranger).unwrap();
    let mut heard = Vec::new();
    stranger.read_to_end(&mut heard).await.unwrap();
    assert!(heard.is_empty(), "{heard:?}");
    client.perform(alone(), list()).await.unwrap();
}

#[tokio::test]
async fn a_socket_that_another_user_serves_is_not_used() {
    requires!("root", privileges::identity().0 == 0);
    let stage = Stage::new();
    let folder = stage.folder();
    let _ownership = folder.lock().unwrap().unwrap();
    let theirs = stage.around.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    open_to_all(stage.around.path(), 0o755);
    open_to_all(&theirs, 0o777);
    let path = theirs.join("sock");
    let there = path.clone();
    let _listener = as_nobody(move || std::os::unix::net::UnixListener::bind(there).unwrap());
    std::fs::rename(path, stage.data.join("owner.sock")).unwrap();
    match socket::connect(&folder).await {
        Err(NoConnection::Refused(refusal)) => {
            refused(Err(refusal), ErrorCode::Forbidden, "is served by another user (uid 65534)");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_of_another_user_is_refused() {
    requires!("root", privileges::identity().0 == 0);
    let stage = Stage::new();
    std::fs::create_dir(&stage.data).unwrap();
    std::os::unix::fs::chown(&stage.data, Some(65534), None).unwrap();
    let refusal = Folder::hold(&stage.data).expect_err("it is somebody else's");
    refused(Err(refusal), ErrorCode::InvalidInput, "belongs to another user");
}
