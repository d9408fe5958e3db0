//! The engines that tests talk to: the Docker of the tests (`make engine`), a Podman service and a Docker of a test's own. This
//! machine's own are not touched.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) use bailiwick_testkit::engine::Own;
use bailiwick_testkit::{docker, has};

/// An engine for a test.
pub(crate) enum Engine {
    /// The Docker of the tests.
    Docker(PathBuf),
    /// A service of the test's own.
    Own(Own),
}

impl Engine {
    pub(crate) fn socket(&self) -> PathBuf {
        match self {
            Self::Docker(socket) => socket.clone(),
            Self::Own(own) => own.socket.clone(),
        }
    }
}

/// Runs a test with every engine that is here; those that are not are told, and fail the test where they are required.
pub(crate) fn with_each(test: impl Fn(&Engine)) {
    if let Some(docker) = docker() {
        test(&docker);
    }
    if let Some(podman) = podman() {
        test(&podman);
    }
}

/// The Docker of the tests.
pub(crate) fn docker() -> Option<Engine> {
    let socket = docker::socket().filter(|_| can_ask());
    has("docker", socket.is_some()).then_some(Engine::Docker(socket?))
}

/// A Podman service of the test's own.
pub(crate) fn podman() -> Option<Engine> {
    has("podman", can_ask()).then(Own::podman).flatten().map(Engine::Own)
}

/// Whether there is a program to ask engines with.
fn can_ask() -> bool {
    Path::new("/usr/bin/docker").exists()
}

/// What an engine says to a question, by the program that people use: a look from outside that is none of ours.
pub(crate) fn ask(engine: &Engine, words: &[&str]) -> String {
    let socket = format!("unix://{}", engine.socket().display());
    let asked =
        Command::new("docker").args(["--host", &socket]).args(words).output().expect("the docker program");
    assert!(asked.status.success(), "{words:?}: {}", String::from_utf8_lossy(&asked.stderr));
    String::from_utf8_lossy(&asked.stdout).trim().to_owned()
}

/// Whether an engine comes to list no container. One that was killed removes by itself what it finds when it comes back, and answers
/// before it has.
pub(crate) fn comes_to_nothing(engine: &Engine) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !ask(engine, &["ps", "-aq"]).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}
