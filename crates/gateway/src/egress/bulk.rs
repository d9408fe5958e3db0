//! Bytes that nobody has to look at, passed on by the kernel: out of one socket into a pipe, out of the pipe into another socket, with no
//! copy of them here.
//!
//! It is begun where reads come back full, and a pipe is given back when nothing comes for a moment: what stands still holds
//! no more than its sockets. Where it cannot be done (something else than a socket, no pipe to be had) nothing is moved, and
//! whoever asked goes on with copies.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::LazyLock;
use std::time::Duration;

use bailiwick_sys::capacity;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::line::{Activity, Half, Reader, Writer};

/// How much a pipe is asked to hold; an ordinary user may be given less.
const ROOM: usize = 1 << 20;
/// How long a pipe is held while nothing comes.
const MOMENT: Duration = Duration::from_millis(50);
/// The most pipes of all sandboxes together, two descriptors each: a 32nd of the descriptors at most. A connection that finds
/// none makes copies.
static PIPES: LazyLock<Semaphore> = LazyLock::new(|| {
    let most = usize::try_from(capacity::descriptors() / 64).unwrap_or(usize::MAX);
    Semaphore::new(most.clamp(1, 64))
});

/// Which side broke.
#[derive(Debug)]
pub(super) enum Broken {
    /// Where bytes come from.
    From(io::Error),
    /// Where they go.
    To(io::Error),
}

impl Broken {
    pub(super) fn into_error(self) -> io::Error {
        match self {
            Self::From(error) | Self::To(error) => error,
        }
    }
}

/// A pipe that is empty whenever nobody moves anything.
struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // As large as it is made; a smaller one takes more turns.
        let _size = fcntl_setpipe_size(&into, ROOM);
        Ok(Self { out, into })
    }

    fn fill(&self, from: impl AsFd, most: usize) -> io::Result<usize> {
        Ok(splice(from, None, &self.into, None, most, SpliceFlags::MOVE | SpliceFlags::NONBLOCK)?)
    }

    fn empty(&self, to: impl AsFd, most: usize) -> io::Result<usize> {
        Ok(splice(&self.out, None, to, None, most, SpliceFlags::MOVE | SpliceFlags::NONBLOCK)?)
    }
}

/// Passes on up to so many bytes while they come, and gives how many those were. What was read already is the caller's to pass
/// on first. At the end of what comes it stops like at any other pause: the next read sees the end.
pub(super) async fn pass_on(
    from: &mut Reader,
    to: &mut Writer,
    most: u64,
    activity: &Activity,
) -> Result<u64, Broken> {
    let (Half::Tcp(from), Writer::Tcp(to)) = (&from.half, to) else { return Ok(0) };
    let Ok(_held) = PIPES.try_acquire() else { return Ok(0) };
    let Ok(pipe) = Pipe::new() else { return Ok(0) };
    let (from, to) = (from.as_ref(), (*to).as_ref());
    let mut moved = 0;
    while moved < most {
        let room = usize::try_from(most - moved).unwrap_or(usize::MAX).min(ROOM);
        let filling = from.async_io(Interest::READABLE, || pipe.fill(from, room));
        let Ok(filled) = timeout(MOMENT, filling).await else { break };
        let filled = filled.map_err(Broken::From)?;
        if filled == 0 {
            break;
        }
        activity.moved();
        let mut left = filled;
        while left > 0 {
            let emptying = to.async_io(Interest::WRITABLE, || pipe.empty(to, left));
            match emptying.await.map_err(Broken::To)? {
                0 => return Err(Broken::To(io::ErrorKind::WriteZero.into())),
                emptied => left -= emptied.min(left),
            }
            activity.moved();
        }
        moved += filled as u64;
    }
    Ok(moved)
}
