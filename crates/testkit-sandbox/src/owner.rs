//! Owners that are killed: a test starts its program again, which makes sandboxes and only waits for its end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

/// By this word a program knows that it is an owner.
const WORD: &str = "an-owner-that-is-killed";
/// What an owner says when it has its sandboxes.
const READY: &str = "ready";

/// An owner that runs. It is ended whatever becomes of the test.
#[derive(Debug)]
pub struct Owner(Child);

impl Owner {
    /// This program again, as an owner. What it is told comes behind.
    pub fn again() -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORD);
        command
    }

    /// The same, started by somebody else's words.
    pub fn behind(first: &str, words: &[&str]) -> Command {
        let mut command = Command::new(first);
        command.args(words).arg(std::env::current_exe().expect("this program")).arg(WORD);
        command
    }

    /// Starts it, and waits until it has its sandboxes. Gives what it said of them.
    pub fn start(command: &mut Command) -> (Self, String) {
        let mut owner = Self(command.stdout(Stdio::piped()).spawn().expect("an owner"));
        let mut line = String::new();
        let stdout = owner.0.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a word");
        let told = line.strip_prefix(READY).expect("it is ready").trim().to_owned();
        (owner, told)
    }

    /// What an owner was told, if this program was started as one.
    pub fn told() -> Option<impl Iterator<Item = String>> {
        let mut words = std::env::args().skip(1);
        (words.next().as_deref() == Some(WORD)).then_some(words)
    }

    /// Says that this owner has its sandboxes, and waits to be killed.
    pub async fn stay(told: &str) {
        writeln!(std::io::stdout(), "{READY} {told}").expect("whoever started it listens");
        std::future::pending::<()>().await;
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Kills it, and waits until it is gone.
    pub fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("reaped");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}
