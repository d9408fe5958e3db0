//! A connection in two halves, with what was read of it and not used yet; and whether anything moves on it.
//!
//! What is read ahead is bounded: the room for it grows only while reads fill it.

use std::any::Any;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bailiwick_sandbox::Duplex;
use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::bulk::{Broken, pass_on};

/// The room of a first read.
const LEAST_ROOM: usize = 8 * 1024;
/// The most that is read at once, and so held of a connection in one direction.
const MOST_ROOM: usize = 64 * 1024;

/// Where bytes go.
pub(super) enum Writer {
    /// Into a socket.
    Tcp(OwnedWriteHalf),
    /// Into something else.
    Other(Box<dyn AsyncWrite + Send + Unpin>),
}

/// A connection.
pub(super) struct Line {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
}

/// Where bytes come from.
pub(super) struct Reader {
    pub(super) half: Half,
    unread: BytesMut,
    room: usize,
    /// Whether the last read was as large as one can be.
    is_busy: bool,
}

/// What is read.
pub(super) enum Half {
    /// A socket.
    Tcp(OwnedReadHalf),
    /// Something else.
    Other(Box<dyn AsyncRead + Send + Unpin>),
}

impl Line {
    pub(super) fn new(stream: impl Duplex) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Reader::new(Half::Other(Box::new(reader))), writer: Writer::Other(Box::new(writer)) }
    }

    pub(super) fn tcp(stream: TcpStream) -> Self {
        let (reader, writer) = stream.into_split();
        Self { reader: Reader::new(Half::Tcp(reader)), writer: Writer::Tcp(writer) }
    }

    /// A connection that a backend hands over: as a socket, if it is one.
    pub(super) fn handed(stream: Box<dyn Duplex>) -> Self {
        if !(&*stream as &dyn Any).is::<TcpStream>() {
            return Self::new(stream);
        }
        let stream: Box<dyn Any> = stream;
        match stream.downcast::<TcpStream>() {
            Ok(stream) => Self::tcp(*stream),
            // It was looked what it is, so nobody comes here; and if, to a connection that is over.
            Err(_) => Self::new(tokio::io::empty()),
        }
    }

    /// In one piece again, with what was not used yet.
    pub(super) fn into_one(self) -> impl Duplex + 'static {
        tokio::io::join(self.reader, self.writer)
    }
}

impl Reader {
    fn new(half: Half) -> Self {
        Self { half, unread: BytesMut::new(), room: LEAST_ROOM, is_busy: false }
    }

    /// Whether more came at the last time than is read at once, and nothing of it waits to be used.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy && self.unread.is_empty()
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
        self.is_busy = count == MOST_ROOM;
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

impl AsyncRead for Half {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(context, into),
            Self::Other(half) => Pin::new(half).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_write(context, bytes),
            Self::Other(half) => Pin::new(half).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_flush(context),
            Self::Other(half) => Pin::new(half).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(context),
            Self::Other(half) => Pin::new(half).poll_shutdown(context),
        }
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
        if from.is_busy() {
            pass_on(from, to, u64::MAX, activity).await.map_err(Broken::into_error)?;
        }
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
