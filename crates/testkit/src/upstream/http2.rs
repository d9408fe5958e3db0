//! HTTP/2 over TLS: the same answers, as far as they are not about HTTP/1's wire.

use std::sync::Arc;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::answer::Message;
use super::record::{Record, Request, Spoken};
use super::serve::Caller;
use super::{Answer, Answers, Framing, Piece};
use crate::message::text_of;

/// Serves one connection until either side is done.
pub(super) async fn serve(
    stream: TlsStream<TcpStream>,
    caller: &Caller,
    answers: &Arc<dyn Answers>,
    record: &Arc<Record>,
) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(stream).await?;
    // The streams of a connection end with it.
    let mut streams = tokio::task::JoinSet::new();
    while let Some(asked) = connection.accept().await {
        let (request, respond) = asked?;
        let (caller, answers, record) = (caller.clone(), Arc::clone(answers), Arc::clone(record));
        // A fault of one stream is its client's going away.
        streams.spawn(async move { stream_of(request, respond, caller, answers, record).await.ok() });
    }
    Ok(())
}

async fn stream_of(
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    caller: Caller,
    answers: Arc<dyn Answers>,
    record: Arc<Record>,
) -> Result<(), h2::Error> {
    let (head, body) = request.into_parts();
    let (body, is_whole) = read(body).await;
    let target = head.uri.path_and_query().map_or_else(|| head.uri.to_string(), ToString::to_string);
    let authority = head.uri.authority().map(|authority| (":authority".to_owned(), authority.to_string()));
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text_of(value.as_bytes())));
    let request = Request {
        method: head.method.to_string(),
        target,
        headers: authority.into_iter().chain(headers).collect(),
        body,
        is_whole,
        connection: caller.connection,
        protocol: Spoken::Http2,
        tls: caller.tls,
        peer: caller.peer,
    };
    let answer = match answers.answer(&request) {
        Answer::Echo => Answer::json("").body(request.as_json()),
        answer => answer,
    };
    let is_head = request.method == "HEAD";
    record.change(|seen| seen.requests.push(request));
    match answer {
        Answer::Message(message) => carry_out(&mut respond, &message, is_head).await,
        Answer::Raw(pieces) => {
            for piece in pieces {
                match piece {
                    Piece::Wait(gate) => gate.passed().await,
                    Piece::Silence => return gone(&mut respond).await,
                    _ => break,
                }
            }
            respond.send_reset(Reason::INTERNAL_ERROR);
            Ok(())
        }
        Answer::Echo => Ok(()),
    }
}

async fn read(mut body: RecvStream) -> (Vec<u8>, bool) {
    let mut whole = Vec::new();
    while let Some(data) = body.data().await {
        let Ok(data) = data else { return (whole, false) };
        whole.extend_from_slice(&data);
        // Only a stream that is over has no window to give back.
        let _ = body.flow_control().release_capacity(data.len());
    }
    (whole, true)
}

async fn gone(respond: &mut SendResponse<Bytes>) -> Result<(), h2::Error> {
    std::future::poll_fn(|context| respond.poll_reset(context)).await.map(drop)
}

async fn carry_out(
    respond: &mut SendResponse<Bytes>,
    message: &Message,
    is_head: bool,
) -> Result<(), h2::Error> {
    if let Some(gate) = &message.held {
        tokio::select! {
            () = gate.passed() => {}
            gone = gone(respond) => return gone,
        }
    }
    let mut response = http::Response::builder().status(message.status);
    for (name, value) in &message.headers {
        response = response.header(name.as_str(), value.as_slice());
    }
    response = match message.framing {
        Framing::Claimed(length) => response.header("content-length", length),
        Framing::Length => response.header("content-length", message.length()),
        Framing::Chunked | Framing::Close | Framing::Unsaid => response,
    };
    let Ok(response) = response.body(()) else {
        // A head that HTTP/2 cannot carry.
        respond.send_reset(Reason::INTERNAL_ERROR);
        return Ok(());
    };
    let is_over = is_head || message.body.is_empty();
    let mut stream = respond.send_response(response, is_over)?;
    if is_over {
        return Ok(());
    }
    for piece in &message.body {
        match piece {
            Piece::Bytes(bytes) => write(&mut stream, bytes).await?,
            Piece::Wait(gate) => gate.passed().await,
            Piece::Drip(byte, every) => loop {
                write(&mut stream, &[*byte]).await?;
                tokio::time::sleep(*every).await;
            },
            Piece::Endless(bytes) => loop {
                write(&mut stream, bytes).await?;
            },
            Piece::Silence => {
                return std::future::poll_fn(|context| stream.poll_reset(context)).await.map(drop);
            }
            Piece::Reset | Piece::Close => {
                stream.send_reset(Reason::INTERNAL_ERROR);
                return Ok(());
            }
        }
    }
    stream.send_data(Bytes::new(), true)
}

/// Sends as the client's window allows.
async fn write(stream: &mut SendStream<Bytes>, bytes: &[u8]) -> Result<(), h2::Error> {
    let mut left = Bytes::copy_from_slice(bytes);
    while !left.is_empty() {
        stream.reserve_capacity(left.len());
        let room = std::future::poll_fn(|context| stream.poll_capacity(context)).await;
        match room {
            Some(Ok(room)) => stream.send_data(left.split_to(room.min(left.len())), false)?,
            Some(Err(fault)) => return Err(fault),
            None => return Err(Reason::CANCEL.into()),
        }
    }
    Ok(())
}
