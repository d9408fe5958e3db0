//! Reads HTTP/1.1 requests by hand: what came is kept as it came, in order and with duplicates.
//!
//! Lenient on purpose: a fake shall see what a client sent, not judge it. It must never be used on a server's side of
//! anything real.

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// A fake reads no larger head than this.
const HEAD_MOST: usize = 1 << 20;

/// The first line and the headers of a request. Each byte is one character of the texts ([`text_of`]), so that none is
/// lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// The first header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// The first header of this name among these.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Bytes as text, each byte the character of its number (Latin-1).
pub(crate) fn text_of(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes of a text that [`text_of`] made; what it cannot have made is a `?`.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|one| u8::try_from(one).unwrap_or(b'?')).collect()
}

/// A connection with what was read of it and not yet used.
#[derive(Debug)]
pub(crate) struct Conversation<Stream> {
    pub(crate) stream: Stream,
    unused: Vec<u8>,
}

impl<Stream: AsyncRead + AsyncWrite + Unpin> Conversation<Stream> {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, unused: Vec::new() }
    }

    /// The next request's head; `None` when the client is done.
    pub(crate) async fn head(&mut self) -> Result<Option<Head>> {
        loop {
            if let Some(end) = find(&self.unused, b"\r\n\r\n") {
                let rest = self.unused.split_off(end + 4);
                let head = std::mem::replace(&mut self.unused, rest);
                return parse(&head).map(Some);
            }
            if self.unused.len() > HEAD_MOST {
                return Err(Error::new(ErrorKind::InvalidData, "a head of more than 1 MiB"));
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    /// The body that this head announces, and whether all of it came.
    pub(crate) async fn body(&mut self, head: &Head) -> Result<(Vec<u8>, bool)> {
        let is_chunked = head
            .header("transfer-encoding")
            .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
        let length = head.header("content-length").and_then(|value| value.trim().parse::<usize>().ok());
        if !is_chunked && length.unwrap_or(0) == 0 {
            return Ok((Vec::new(), true));
        }
        if head.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            self.stream.flush().await?;
        }
        if is_chunked { self.chunks().await } else { self.exactly(length.unwrap_or(0)).await }
    }

    /// The connection, and what was read of it and belongs to no request.
    pub(crate) fn into_parts(self) -> (Stream, Vec<u8>) {
        (self.stream, self.unused)
    }

    async fn exactly(&mut self, length: usize) -> Result<(Vec<u8>, bool)> {
        while self.unused.len() < length {
            if !self.more().await? {
                return Ok((std::mem::take(&mut self.unused), false));
            }
        }
        let rest = self.unused.split_off(length);
        Ok((std::mem::replace(&mut self.unused, rest), true))
    }

    async fn chunks(&mut self) -> Result<(Vec<u8>, bool)> {
        let mut body = Vec::new();
        loop {
            let Some(line) = self.line().await? else { return Ok((body, false)) };
            let size = line.split(';').next().unwrap_or_default().trim().to_owned();
            let size = usize::from_str_radix(&size, 16)
                .map_err(|_| Error::new(ErrorKind::InvalidData, "a chunk without a size"))?;
            if size == 0 {
                // Trailers, up to the empty line.
                loop {
                    match self.line().await? {
                        None => return Ok((body, false)),
                        Some(line) if line.is_empty() => return Ok((body, true)),
                        Some(_) => {}
                    }
                }
            }
            let (chunk, is_whole) = self.exactly(size).await?;
            body.extend(chunk);
            if !is_whole || self.line().await?.is_none() {
                return Ok((body, false));
            }
        }
    }

    async fn line(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(end) = find(&self.unused, b"\r\n") {
                let rest = self.unused.split_off(end + 2);
                let mut line = std::mem::replace(&mut self.unused, rest);
                line.truncate(end);
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    async fn more(&mut self) -> Result<bool> {
        Ok(self.stream.read_buf(&mut self.unused).await? > 0)
    }
}

fn parse(head: &[u8]) -> Result<Head> {
    let text = text_of(head);
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(_version)) = (first.next(), first.next(), first.next()) else {
        return Err(Error::new(ErrorKind::InvalidData, "a first line that is none of a request"));
    };
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        .collect();
    Ok(Head { method: method.to_owned(), target: target.to_owned(), headers })
}

/// Where these bytes begin among those.
fn find(among: &[u8], wanted: &[u8]) -> Option<usize> {
    among.windows(wanted.len()).position(|window| window == wanted)
}
