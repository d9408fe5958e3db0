//! This program's own streams, for a command to talk with: stdin to it, its output here, and the signals that end both.
//!
//! A terminal that is given to a command is raw meanwhile, and always put back.

use std::io::{IsTerminal as _, Read as _};
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_core::sandboxes::{CommandWish, GivenInput};
use bailiwick_core::{Chunk, Input, Talk};
use bailiwick_sandbox::{Stream, Window};
use bytes::Bytes;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::render::stream::Out;
use crate::typed::sandbox::StreamFlags;

/// How much of stdin is read at once.
const PIECE: usize = 32 << 10;
/// A terminal whose size nobody tells.
const USUAL: Window = Window { rows: 24, columns: 80 };

/// The streams of this program.
pub(crate) struct Console {
    out: [Arc<Mutex<Out>>; 2],
    input: tokio::sync::Mutex<mpsc::Receiver<Input>>,
    urgent: tokio::sync::Mutex<mpsc::Receiver<Input>>,
    hurry: mpsc::Sender<Input>,
    is_gone: AtomicBool,
    raw: Mutex<Option<Raw>>,
    has_terminal: bool,
}

impl Console {
    /// Our streams, and the command as it is to be run with them.
    pub(crate) fn open(
        flags: StreamFlags,
        keeps: bool,
        mut command: CommandWish,
    ) -> Result<(Self, CommandWish), Failure> {
        let stdin = std::io::stdin();
        let is_terminal = stdin.is_terminal();
        if flags.tty {
            command.terminal = Some(window().unwrap_or(USUAL));
        }
        let comes = flags.interactive || !is_terminal || flags.tty;
        if comes {
            command.input = GivenInput::Comes;
        }
        command.keep_output = keeps;
        let raw = if flags.tty && is_terminal { Some(Raw::begin()?) } else { None };
        let (sender, input) = mpsc::channel(4);
        if comes {
            // It ends with this program: nobody waits for a terminal that says nothing.
            std::thread::spawn(move || read_all(&sender));
        }
        let (hurry, urgent) = mpsc::channel(16);
        let out =
            [Stream::Stdout, Stream::Stderr].map(|stream| Arc::new(Mutex::new(Out::new(stream, flags.tty))));
        let console = Self {
            out,
            input: tokio::sync::Mutex::new(input),
            urgent: tokio::sync::Mutex::new(urgent),
            hurry,
            is_gone: AtomicBool::new(false),
            has_terminal: flags.tty && is_terminal,
            raw: Mutex::new(raw),
        };
        Ok((console, command))
    }

    /// Hears the signals that end this program from now on, and when the terminal has another size.
    pub(crate) fn listen(&self) -> Result<Ending, Failure> {
        if self.has_terminal {
            let mut changed = signal(SignalKind::window_change()).map_err(Failure::Signals)?;
            let hurry = self.hurry.clone();
            tokio::spawn(async move {
                while changed.recv().await.is_some() {
                    let Some(window) = window() else { continue };
                    if hurry.send(Input::Resize(window)).await.is_err() {
                        return;
                    }
                }
            });
        }
        let one = |kind| signal(kind).map_err(Failure::Signals);
        Ok(Ending {
            interrupt: one(SignalKind::interrupt())?,
            terminate: one(SignalKind::terminate())?,
            hangup: one(SignalKind::hangup())?,
            quit: one(SignalKind::quit())?,
            last: None,
        })
    }

    /// Puts the terminal back, before anything of ours is said.
    pub(crate) fn restore(&self) {
        drop(self.raw.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Whether whoever read our output went away.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::SeqCst)
    }
}

impl Talk for Console {
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let [stdout, stderr] = &self.out;
        let out = match chunk.stream {
            Stream::Stdout => stdout.clone(),
            Stream::Stderr => stderr.clone(),
        };
        Box::pin(async move {
            if self.is_gone() {
                return;
            }
            // A terminal that is stopped, or a reader that is slow, holds up the command and not our signals.
            let write = move || out.lock().unwrap_or_else(PoisonError::into_inner).write(&chunk.bytes);
            if !matches!(tokio::task::spawn_blocking(write).await, Ok(Ok(()))) {
                self.is_gone.store(true, Ordering::SeqCst);
                // One such word is enough, and there is room for it.
                let _ = self.hurry.try_send(Input::Kill);
            }
        })
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async { self.input.lock().await.recv().await })
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(async { self.urgent.lock().await.recv().await })
    }
}

/// Reads stdin to its end.
fn read_all(to: &mpsc::Sender<Input>) {
    let mut stdin = std::io::stdin().lock();
    let mut piece = vec![0; PIECE];
    loop {
        let read = match stdin.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // A stdin that cannot be read has nothing more to say.
            Err(_) => 0,
        };
        let told = match piece.get(..read) {
            Some(bytes) if read > 0 => Input::Bytes(Bytes::copy_from_slice(bytes)),
            _ => Input::End,
        };
        if to.blocking_send(told).is_err() || read == 0 {
            return;
        }
    }
}

/// The size of our terminal.
fn window() -> Option<Window> {
    let size =
        tcgetwinsize(std::io::stdout().as_fd()).or_else(|_| tcgetwinsize(std::io::stdin().as_fd())).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some(Window { rows: size.ws_row, columns: size.ws_col })
}

/// A terminal that hands on every key as it is, until this is dropped.
struct Raw {
    before: Termios,
}

impl Raw {
    fn begin() -> Result<Self, Failure> {
        let stdin = std::io::stdin();
        let failed = |errno: rustix::io::Errno| Failure::Terminal(errno.into());
        let before = tcgetattr(stdin.as_fd()).map_err(failed)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin.as_fd(), OptionalActions::Now, &raw).map_err(failed)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Where the terminal went away there is nothing to put back.
        let _gone = tcsetattr(std::io::stdin().as_fd(), OptionalActions::Drain, &self.before);
    }
}

/// The signals that end this program.
pub(crate) struct Ending {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    quit: Signal,
    last: Option<u8>,
}

impl Ending {
    /// Waits for one; gives its number.
    pub(crate) async fn next(&mut self) -> u8 {
        let number = tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.quit.recv() => 3,
            _ = self.terminate.recv() => 15,
            _ = self.hangup.recv() => 1,
        };
        self.last = Some(number);
        number
    }

    /// The one that came.
    pub(crate) const fn last(&self) -> Option<u8> {
        self.last
    }
}
