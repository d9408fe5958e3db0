//! HTTP/1.1 by hand: reads requests off a connection and carries out their answers, lies and all.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::record::{Record, Request, Spoken, Tls};
use super::{Answer, Answers, Framing, Gate, Piece};
use crate::message::Conversation;

/// A stream that can be told to end with a reset.
pub(super) trait Resettable: AsyncRead + AsyncWrite + Unpin {
    fn reset_at_close(&self) -> Result<()>;
}

impl Resettable for TcpStream {
    fn reset_at_close(&self) -> Result<()> {
        self.set_zero_linger()
    }
}

impl Resettable for TlsStream<TcpStream> {
    fn reset_at_close(&self) -> Result<()> {
        self.get_ref().0.set_zero_linger()
    }
}

/// Whom a connection belongs to.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) connection: usize,
    pub(super) peer: SocketAddr,
    pub(super) tls: Option<Tls>,
}

/// What becomes of a connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Request,
    Close,
}

/// Serves one connection until either side is done. A fault is the client's going away or its nonsense; the record
/// shows what came.
pub(super) async fn serve<Stream: Resettable>(
    stream: Stream,
    caller: &Caller,
    answers: &dyn Answers,
    record: &Record,
) -> Result<()> {
    let mut conversation = Conversation::new(stream);
    while let Some(head) = conversation.head().await? {
        let (body, is_whole) = conversation.body(&head).await?;
        let request = Request {
            method: head.method,
            target: head.target,
            headers: head.headers,
            body,
            is_whole,
            connection: caller.connection,
            protocol: Spoken::Http1,
            tls: caller.tls.clone(),
            peer: caller.peer,
        };
        let answer = answers.answer(&request);
        let is_last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let is_head = request.method == "HEAD";
        let echo = matches!(answer, Answer::Echo).then(|| Answer::json("").body(request.as_json()));
        record.change(|seen| seen.requests.push(request));
        if !is_whole {
            return Ok(());
        }
        let next = carry_out(&mut conversation.stream, echo.as_ref().unwrap_or(&answer), is_head).await?;
        if next == Next::Close || is_last {
            break;
        }
    }
    // TLS says goodbye here, unless the client is gone.
    conversation.stream.shutdown().await
}

async fn carry_out<Stream: Resettable>(stream: &mut Stream, answer: &Answer, is_head: bool) -> Result<Next> {
    match answer {
        // Made into a message before.
        Answer::Echo => Ok(Next::Close),
        Answer::Raw(pieces) => send(stream, pieces, &Framing::Unsaid).await,
        Answer::Message(message) => {
            if let Some(gate) = &message.held {
                pass(stream, gate).await?;
            }
            stream.write_all(&message.head()).await?;
            stream.flush().await?;
            if is_head {
                return Ok(Next::Request);
            }
            let next = send(stream, &message.body, &message.framing).await?;
            if message.framing == Framing::Chunked && next == Next::Request {
                stream.write_all(b"0\r\n\r\n").await?;
                stream.flush().await?;
            }
            Ok(if message.framing == Framing::Close { Next::Close } else { next })
        }
    }
}

async fn send<Stream: Resettable>(stream: &mut Stream, pieces: &[Piece], framing: &Framing) -> Result<Next> {
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => write(stream, bytes, framing).await?,
            Piece::Wait(gate) => pass(stream, gate).await?,
            Piece::Drip(byte, every) => loop {
                write(stream, &[*byte], framing).await?;
                tokio::select! {
                    () = tokio::time::sleep(*every) => {}
                    gone = gone(stream) => return Err(gone),
                }
            },
            Piece::Endless(bytes) => loop {
                write(stream, bytes, framing).await?;
            },
            Piece::Silence => return Err(gone(stream).await),
            Piece::Reset => {
                stream.reset_at_close()?;
                return Err(ErrorKind::ConnectionReset.into());
            }
            Piece::Close => return Ok(Next::Close),
        }
    }
    Ok(Next::Request)
}

/// Waits at a gate, unless the client goes away.
async fn pass<Stream: Resettable>(stream: &mut Stream, gate: &Gate) -> Result<()> {
    tokio::select! {
        () = gate.passed() => Ok(()),
        gone = gone(stream) => Err(gone),
    }
}

async fn write<Stream: Resettable>(stream: &mut Stream, bytes: &[u8], framing: &Framing) -> Result<()> {
    if *framing == Framing::Chunked {
        stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
        stream.write_all(bytes).await?;
        stream.write_all(b"\r\n").await?;
    } else {
        stream.write_all(bytes).await?;
    }
    stream.flush().await
}

/// Waits until the client goes away. What it sends meanwhile is lost.
async fn gone<Stream: Resettable>(stream: &mut Stream) -> Error {
    let mut lost = [0; 1024];
    loop {
        match stream.read(&mut lost).await {
            Ok(0) => return ErrorKind::UnexpectedEof.into(),
            Ok(_) => {}
            Err(fault) => return fault,
        }
    }
}
