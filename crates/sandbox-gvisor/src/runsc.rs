//! The program `runsc`: how it is started, asked, and ended. It is looked for once, and what it says in trouble is kept.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bailiwick_agent_host::link::Greeting;
use bailiwick_sys::cgroups::{Group, open_door};
use bailiwick_sys::{pidfd, program};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// How much is kept of what it says in trouble.
const KEPT: usize = 4096;

/// The program, and how it is told to do everything.
#[derive(Debug, Clone)]
pub(crate) struct Runsc {
    pub(crate) program: PathBuf,
    pub(crate) platform: String,
    /// Where it keeps what it has to know of its containers: a folder of ours.
    pub(crate) root: PathBuf,
    /// Whether it is an ordinary user's, who has a part of what it can do.
    pub(crate) is_rootless: bool,
}

/// A container that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) greeting: Greeting,
    pub(crate) child: Child,
    pub(crate) handle: OwnedFd,
    pub(crate) said: Said,
}

/// What it said in trouble: the last of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said(Arc<Mutex<VecDeque<u8>>>);

impl Said {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// As text, in one line.
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        let text = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Runsc {
    /// The flags before every command.
    fn flags(&self) -> Vec<OsString> {
        let mut flags: Vec<OsString> = vec![
            "--root".into(),
            self.root.clone().into(),
            format!("--platform={}", self.platform).into(),
            // Its own network has nothing but loopback.
            "--network=none".into(),
            // What is written goes nowhere but where we say.
            "--overlay2=none".into(),
            // The sandbox's kernel opens no file of the host by itself: the gofer does, and the kernel is nobody.
            "--directfs=false".into(),
            // The cgroups are ours.
            "--ignore-cgroups".into(),
        ];
        if self.is_rootless {
            flags.push("--rootless".into());
        }
        flags
    }

    fn command(&self, words: &[&std::ffi::OsStr], doors: Vec<OwnedFd>) -> Command {
        let mut command = program::through(&self.program, doors);
        command.args(self.flags()).args(words);
        let mut command = Command::from(command);
        command.kill_on_drop(true);
        command
    }

    /// Starts a container, in these cgroups: a fresh one of a bundle, or one that goes on from an image.
    pub(crate) fn start(
        &self,
        name: &str,
        bundle: &Path,
        image: Option<&Path>,
        group: &Group,
    ) -> Result<Started, String> {
        let said =
            |error: &dyn std::fmt::Display| format!("{} cannot be started: {error}", self.program.display());
        let doors = group.doors().iter().map(|door| open_door(door)).collect::<Result<Vec<_>, _>>();
        let pid_file = bundle.join(PID_FILE);
        let mut words = vec![std::ffi::OsStr::new(if image.is_some() { "restore" } else { "run" })];
        words.extend([std::ffi::OsStr::new("--bundle"), bundle.as_os_str()]);
        words.extend([std::ffi::OsStr::new("--pid-file"), pid_file.as_os_str()]);
        if let Some(image) = image {
            words.extend([std::ffi::OsStr::new("--image-path"), image.as_os_str()]);
        }
        words.push(std::ffi::OsStr::new(name));
        let mut command = self.command(&words, doors.map_err(|error| said(&error))?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| said(&error))?;
        let number = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let number = number.ok_or_else(|| said(&"it has no number"))?;
        let handle = pidfd_open(number, PidfdFlags::empty()).map_err(|errno| said(&errno))?;
        let (Some(to), Some(from), Some(trouble)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(said(&"it has no streams"));
        };
        let kept = Said::default();
        tokio::spawn(listen(trouble, kept.clone()));
        Ok(Started { greeting: Greeting::new(Box::new(from), Box::new(to)), child, handle, said: kept })
    }

    /// Whether it has something written of a container, as one that was killed itself has.
    pub(crate) fn knows(&self, name: &str) -> bool {
        match std::fs::read_dir(&self.root) {
            Ok(entries) => entries
                .filter_map(Result::ok)
                .any(|entry| entry.file_name().to_str().is_some_and(|file| file.contains(name))),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// Has it forget a container, and end what it knows of it.
    pub(crate) async fn forget(&self, name: &str, within: Duration) -> Result<(), String> {
        let words = ["delete", "--force", name].map(std::ffi::OsStr::new);
        self.ask(&words, within).await.map(|_| ())
    }

    /// Asks it for something that ends by itself. Gives what it says.
    pub(crate) async fn ask(&self, words: &[&std::ffi::OsStr], within: Duration) -> Result<String, String> {
        let mut command = self.command(words, Vec::new());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = self.program.display();
        let mut child = command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
        let (said, trouble) = (Said::default(), Said::default());
        let listening = [
            child.stdout.take().map(|stream| tokio::spawn(listen(stream, said.clone()))),
            child.stderr.take().map(|stream| tokio::spawn(listen(stream, trouble.clone()))),
        ];
        let Ok(status) = tokio::time::timeout(within, child.wait()).await else {
            return Err(format!("{program} did not end within {within:?}"));
        };
        for one in listening.into_iter().flatten() {
            // Somebody that it left behind may hold the stream.
            let _held = tokio::time::timeout(LAST, one).await;
        }
        match status {
            Ok(status) if status.success() => Ok(said.text()),
            Ok(status) => Err(format!("{program} ended with {status}: {}", trouble.text())),
            Err(error) => Err(format!("{program} was lost: {error}")),
        }
    }
}

/// How long it is listened to what has ended.
const LAST: Duration = Duration::from_secs(1);
/// Where the number of the sandbox's kernel is written, below the bundle.
pub(crate) const PID_FILE: &str = "pid";

/// Ends a container that is running, by the handle on the program that started it; what it started ends with it.
pub(crate) fn end(handle: &OwnedFd) {
    // One that is gone already is fine.
    let _gone = pidfd::kill(handle);
}

async fn listen(mut stream: impl tokio::io::AsyncRead + Unpin, said: Said) {
    let mut room = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut room).await {
        said.add(room.get(..read).unwrap_or_default());
    }
}
