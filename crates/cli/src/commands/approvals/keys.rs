//! Keys as a person presses them, one at a time. What is pasted, or comes as fast as a paste does, answers nothing.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A character.
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C, Ctrl-D, or the end of the input.
    End,
}

/// How long after a piece of more than one key nothing is taken for a key.
const QUIET: Duration = Duration::from_millis(100);
/// What a terminal puts around what is pasted.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// The key that came in one piece, if it is just one.
fn of(bytes: &[u8]) -> Option<Key> {
    Some(match bytes {
        b"\x03" | b"\x04" => Key::End,
        b"\r" | b"\n" => Key::Enter,
        b"\x1b" => Key::Escape,
        b"\x7f" | b"\x08" => Key::Backspace,
        b"\x1b[A" | b"\x1bOA" => Key::Up,
        b"\x1b[B" | b"\x1bOB" => Key::Down,
        b"\x1b[5~" => Key::PageUp,
        b"\x1b[6~" => Key::PageDown,
        [byte] if byte.is_ascii_graphic() || *byte == b' ' => Key::Char(char::from(*byte)),
        _ => return None,
    })
}

/// Tells what a person pressed from what was pasted.
#[derive(Debug, Default)]
struct Sieve {
    is_pasting: bool,
    /// The last bytes of what came before: a mark may come in two pieces.
    tail: Vec<u8>,
    quiet_until: Option<Instant>,
    /// Whether more was there already when the last piece was read.
    goes_on: bool,
}

impl Sieve {
    /// The key in a piece that was read at this time; `goes_on` where more is there already.
    fn take(&mut self, bytes: &[u8], at: Instant, goes_on: bool) -> Option<Key> {
        let was_pasting = self.is_pasting;
        let has_mark = self.look_for_marks(bytes);
        let belongs = std::mem::replace(&mut self.goes_on, goes_on) || goes_on;
        let is_late = self.quiet_until.is_none_or(|until| at >= until);
        let key = of(bytes);
        // It only ends the view, and a paste that never ends must not hold a person there.
        if key == Some(Key::End) {
            return key;
        }
        if key.is_none() || was_pasting || self.is_pasting || has_mark || belongs || !is_late {
            self.quiet_until = Some(at + QUIET);
            return None;
        }
        key
    }

    fn look_for_marks(&mut self, bytes: &[u8]) -> bool {
        self.tail.extend_from_slice(bytes);
        let last = |mark: &[u8]| self.tail.windows(mark.len()).rposition(|part| part == mark);
        let (begins, ends) = (last(PASTE_BEGINS), last(PASTE_ENDS));
        let has_mark = begins.is_some() || ends.is_some();
        if has_mark {
            self.is_pasting = begins > ends;
        }
        let kept = self.tail.len().min(PASTE_BEGINS.len() - 1);
        self.tail.drain(..self.tail.len() - kept);
        has_mark
    }
}

/// Reads keys until it is dropped.
pub(super) struct Keys {
    pressed: mpsc::UnboundedReceiver<Key>,
    is_over: Arc<AtomicBool>,
}

impl Keys {
    /// Begins to read stdin, on a thread of its own: a terminal is read by blocking.
    pub(super) fn read() -> std::io::Result<Self> {
        let (press, pressed) = mpsc::unbounded_channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            let mut sieve = Sieve::default();
            while !over.load(Ordering::Relaxed) {
                let key = match next(&mut sieve) {
                    Ok(Some(key)) => key,
                    Ok(None) => continue,
                    Err(_) => Key::End,
                };
                if press.send(key).is_err() || key == Key::End {
                    return;
                }
            }
        })?;
        Ok(Self { pressed, is_over })
    }

    /// The next key.
    pub(super) async fn next(&mut self) -> Key {
        self.pressed.recv().await.unwrap_or(Key::End)
    }

    /// Forgets what was pressed meanwhile.
    pub(super) fn forget(&mut self) {
        while self.pressed.try_recv().is_ok() {}
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// The next key, if one comes soon.
fn next(sieve: &mut Sieve) -> Result<Option<Key>, Errno> {
    const SOON: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
    if !is_there(&SOON)? {
        return Ok(None);
    }
    let mut bytes = [0; 256];
    match rustix::io::read(std::io::stdin().as_fd(), &mut bytes) {
        Ok(0) => Ok(Some(Key::End)),
        Ok(count) => {
            let goes_on = is_there(&NOW)?;
            Ok(bytes.get(..count).and_then(|bytes| sieve.take(bytes, Instant::now(), goes_on)))
        }
        Err(Errno::INTR | Errno::AGAIN) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Whether there is something to read within this time.
fn is_there(within: &Timespec) -> Result<bool, Errno> {
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut fds, Some(within)) {
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests;
