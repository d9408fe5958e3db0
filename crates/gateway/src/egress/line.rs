//! A connection in two halves, with what was read of it and not used yet; and whether anything moves on it.
//!
//! What is read ahead is bounded: the room for it grows only while reads fill it.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bailiwick_sandbox::Duplex;
use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;

/// The room of a first read.
const LEAST_ROOM: usize = 8 * 1024;
/// The most that is read at once, and so held of a connection in one direction.
const MOST_ROOM: usize = 64 * 1024;

/// Where bytes go.
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// A connection.
pub(super) struct Line {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
}

/// Where bytes come from.
pub(super) struct Reader {
    half: Box<dyn AsyncRead + Send + Unpin>,
    unread: BytesMut,
    room: usize,
}

impl Line {
    pub(super) fn new(stream: impl Duplex + 'static) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Reader::new(reader), writer: Box::new(writer) }
    }

    pub(super) fn tcp(stream: TcpStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self { reader: Reader::new(reader), writer: Box::new(writer) }
    }

    /// In one piece again, with what was not used yet.
    pub(super) fn into_one(self) -> impl Duplex + 'static {
        tokio::io::join(self.reader, self.writer)
    }
}

impl Reader {
    fn new(half: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self { half: Box::new(half), unread: BytesMut::new(), room: LEAST_ROOM }
    }

    /// What was read and not used yet.
    pub(super) fn unread(&self) -> &[u8] {
        &self.unread
    }

    /// Marks bytes as used.
    pub(super) fn used(&mut self, count: usize) {
        self.unread.advance(count.min(self.unread.len()));
    }

    /// Reads more behind what is not used yet; how much came, none at the end.
    pub(super) async fn fill(&mut self) -> io::Result<usize> {
        self.unread.reserve(self.room);
        let count = (&mut self.half).take(self.room as u64).read_buf(&mut self.unread).await?;
        if count == self.room && self.room < MOST_ROOM {
            self.room *= 2;
        }
        Ok(count)
    }

    /// The first byte that comes; none when nothing does.
    pub(super) async fn first(&mut self) -> io::Result<Option<u8>> {
        if self.unread.is_empty() {
            self.fill().await?;
        }
        Ok(self.unread.first().copied())
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.half).poll_read(context, into);
        }
        let count = into.remaining().min(self.unread.len());
        into.put_slice(self.unread.get(..count).unwrap_or_default());
        self.used(count);
        Poll::Ready(Ok(()))
    }
}

/// Whether anything moves.
#[derive(Debug, Default)]
pub(super) struct Activity(AtomicU64);

impl Activity {
    pub(super) fn moved(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends when nothing moved for this long; it may take up to twice as long to see that.
    pub(super) async fn stops_for(&self, limit: Duration) {
        loop {
            let before = self.0.load(Ordering::Relaxed);
            tokio::time::sleep(limit).await;
            if self.0.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }
}

/// Passes on what comes until it ends, and then the end.
async fn pump(from: &mut Reader, to: &mut Writer, activity: &Activity) -> io::Result<()> {
    loop {
        while !from.unread.is_empty() {
            let count = to.write(&from.unread).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            from.used(count);
            activity.moved();
        }
        to.flush().await?;
        if from.fill().await? == 0 {
            return to.shutdown().await;
        }
    }
}

/// Passes on both ways until both are at their end, one breaks, or nothing moves for too long.
pub(super) async fn splice(one: &mut Line, other: &mut Line, idle: Duration) {
    let activity = Activity::default();
    let there = pump(&mut one.reader, &mut other.writer, &activity);
    let back = pump(&mut other.reader, &mut one.writer, &activity);
    tokio::select! {
        // Either side's going away is how tunnels end; there is nobody to tell.
        _ = async { tokio::try_join!(there, back) } => {}
        () = activity.stops_for(idle) => {}
    }
}

/// Says goodbye so that what was said is read: ends our side, and takes what is still sent for a moment.
pub(super) async fn part(line: &mut Line, within: Duration) {
    const MOST_LOST: usize = 1 << 20;
    let parting = async {
        line.writer.shutdown().await?;
        let mut lost = line.reader.unread.len();
        line.reader.unread.clear();
        while lost < MOST_LOST {
            let count = line.reader.fill().await?;
            if count == 0 {
                break;
            }
            lost += count;
            line.reader.unread.clear();
        }
        io::Result::Ok(())
    };
    // It is closed in any case.
    let _ = tokio::time::timeout(within, parting).await;
}
