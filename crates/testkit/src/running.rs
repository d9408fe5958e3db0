//! A program that runs beside a test, on pipes or at a terminal, and is talked to while it runs.
//!
//! Waiting is for what it writes, within a bound; a test never sleeps to be in time.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// A program that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Option<Input>,
    heard: Arc<Heard>,
    readers: Vec<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
enum Input {
    Pipe(std::process::ChildStdin),
    Terminal(File),
}

/// Everything it wrote so far.
#[derive(Debug, Default)]
struct Heard {
    text: Mutex<String>,
    more: Condvar,
}

impl Running {
    /// Starts a command on pipes; stdout and stderr are heard as one.
    ///
    /// # Panics
    /// When it cannot be started.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn on_pipes(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let heard = Arc::new(Heard::default());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let readers = stdout
            .map(|stdout| hear(stdout, &heard))
            .into_iter()
            .chain(stderr.map(|stderr| hear(stderr, &heard)))
            .collect();
        let input = child.stdin.take().map(Input::Pipe);
        Self { child, input, heard, readers }
    }

    /// Starts a command whose stdin, stdout and stderr are one terminal.
    ///
    /// # Panics
    /// When there is no terminal to be had, or it cannot be started.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn at_a_terminal(mut command: Command) -> Self {
        let ours =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&ours).expect("the terminal's rights");
        unlockpt(&ours).expect("the terminal's lock");
        let name = ptsname(&ours, Vec::new()).expect("the terminal's name");
        let open = || -> OwnedFd {
            let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
            rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty())
                .expect("the terminal's other side")
        };
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().expect("the program starts");
        // Its descriptors go with it, so that the terminal is at its end when the program is.
        drop(command);
        let heard = Arc::new(Heard::default());
        let ours = File::from(ours);
        let reader = hear(ours.try_clone().expect("the terminal twice"), &heard);
        Self { child, input: Some(Input::Terminal(ours)), heard, readers: vec![reader] }
    }

    /// Waits until it has written this; gives everything it wrote so far.
    ///
    /// # Panics
    /// When that does not come in time.
    pub fn wait_for(&self, wanted: &str) -> String {
        self.wait_for_nth(wanted, 1)
    }

    /// Waits until it has written this so many times.
    ///
    /// # Panics
    /// When that does not come in time.
    pub fn wait_for_nth(&self, wanted: &str, times: usize) -> String {
        let until = Instant::now() + PATIENCE;
        let mut text = self.heard.text.lock().unwrap_or_else(PoisonError::into_inner);
        while text.matches(wanted).count() < times {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "`{wanted}` did not come {times} times; what came:\n{text}");
            text = self.heard.more.wait_timeout(text, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        text.clone()
    }

    /// Types this.
    ///
    /// # Panics
    /// When it no longer reads.
    #[expect(clippy::expect_used, reason = "what cannot be typed ends the test")]
    pub fn send(&mut self, text: &str) {
        match &mut self.input {
            Some(Input::Pipe(pipe)) => pipe.write_all(text.as_bytes()).expect("it reads"),
            Some(Input::Terminal(terminal)) => terminal.write_all(text.as_bytes()).expect("it reads"),
            None => {}
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// As Ctrl-C does.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// As `kill` does.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Has it stand still where it is.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
    }

    /// At once, whatever it does.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _gone = kill_process(pid, signal);
        }
    }

    /// Waits for its end; gives the exit code (none after a signal) and everything it wrote.
    ///
    /// # Panics
    /// When it does not end in time.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn end(mut self) -> (Option<i32>, String) {
        let (say, said) = std::sync::mpsc::channel();
        let readers = std::mem::take(&mut self.readers);
        // What it writes is at its end when it is; then it can be waited for.
        std::thread::spawn(move || {
            for reader in readers {
                // A panic in there has been printed.
                let _ = reader.join();
            }
            let _ = say.send(());
        });
        if said.recv_timeout(PATIENCE).is_err() {
            self.kill();
            let mut so_far = String::from("it does not end; what came:\n");
            let _ = so_far.write_str(&self.heard.text.lock().unwrap_or_else(PoisonError::into_inner));
            assert!(so_far.is_empty(), "{so_far}");
        }
        let code = self.child.wait().expect("the program ends").code();
        let text = self.heard.text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (code, text)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind. One that called `end` has nothing left to end.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

fn hear(mut from: impl Read + Send + 'static, heard: &Arc<Heard>) -> std::thread::JoinHandle<()> {
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // A terminal whose other side is closed gives an error in place of an end.
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let part = bytes.get(..count).unwrap_or_default();
            let mut text = heard.text.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(&String::from_utf8_lossy(part));
            heard.more.notify_all();
        }
    })
}
