//! Keys as a person presses them, one at a time. What comes in one piece, as a paste does, answers nothing.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The keys of what came in one piece: more than one only where it is a sequence of moves.
pub(super) fn of(bytes: &[u8]) -> Option<Key> {
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
            while !over.load(Ordering::Relaxed) {
                let key = match next() {
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
fn next() -> Result<Option<Key>, Errno> {
    const SOON: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&SOON)) {
        Ok(0) | Err(Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(errno) => return Err(errno),
    }
    let mut bytes = [0; 256];
    match rustix::io::read(stdin.as_fd(), &mut bytes) {
        Ok(0) => Ok(Some(Key::End)),
        Ok(count) => Ok(bytes.get(..count).and_then(of)),
        Err(Errno::INTR | Errno::AGAIN) => Ok(None),
        Err(errno) => Err(errno),
    }
}
