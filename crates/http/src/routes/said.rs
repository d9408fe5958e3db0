//! What a command says, on its way to whoever reads it over HTTP: in pieces, in order, and never more of it at once than a
//! bound. A reader who is slow makes the command wait.

use std::pin::Pin;
use std::sync::Arc;

use bailiwick_api::Output;
use bailiwick_core::sandboxes::{InputBytes, Stream};
use bailiwick_core::{Chunk, Input, Talk};
use bytes::Bytes;
use tokio::sync::mpsc;

/// The most bytes of one piece.
pub(crate) const PIECE: usize = 32 << 10;
/// How many pieces wait for a slow reader.
pub(crate) const PIECES: usize = 8;

/// The two ends of what a command says: who hears it, and where it is read.
pub(crate) fn spoken() -> (Arc<dyn Talk>, Said) {
    let (pieces, said) = mpsc::channel(PIECES);
    (Arc::new(Mouth(pieces)), Said { pieces: said, out: Rest::default(), err: Rest::default() })
}

/// Cuts a chunk into pieces and hands them on, each when there is room. Whoever is gone hears nothing.
pub(crate) async fn hand_on(chunk: Chunk, to: &mpsc::Sender<Chunk>) {
    let Chunk { stream, mut bytes } = chunk;
    while !bytes.is_empty() {
        let piece = bytes.split_to(bytes.len().min(PIECE));
        if to.send(Chunk { stream, bytes: piece }).await.is_err() {
            return;
        }
    }
}

/// Somebody who hears a command and tells it nothing.
struct Mouth(mpsc::Sender<Chunk>);

impl Talk for Mouth {
    fn output(&self, chunk: Chunk) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(hand_on(chunk, &self.0))
    }

    fn input(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }

    fn urgent(&self) -> Pin<Box<dyn Future<Output = Option<Input>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }
}

/// What a command said and nobody read yet.
pub(crate) struct Said {
    pieces: mpsc::Receiver<Chunk>,
    out: Rest,
    err: Rest,
}

/// The beginning of a character whose end is in the next piece.
#[derive(Debug, Default)]
struct Rest(Vec<u8>);

impl Said {
    /// Waits for the next of it; none when there will be no more.
    pub(crate) async fn next(&mut self) -> Option<Output> {
        loop {
            let Some(chunk) = self.pieces.recv().await else { return self.last() };
            if let Some(output) = self.told(chunk) {
                return Some(output);
            }
        }
    }

    /// What is there already, where nobody speaks any more.
    pub(crate) fn left(&mut self) -> Option<Output> {
        while let Ok(chunk) = self.pieces.try_recv() {
            if let Some(output) = self.told(chunk) {
                return Some(output);
            }
        }
        self.last()
    }

    fn told(&mut self, chunk: Chunk) -> Option<Output> {
        let Chunk { stream, bytes } = chunk;
        self.rest(stream).with(&bytes).map(|said| said.output(stream))
    }

    fn rest(&mut self, stream: Stream) -> &mut Rest {
        match stream {
            Stream::Stdout => &mut self.out,
            Stream::Stderr => &mut self.err,
        }
    }

    /// The beginning of a character that never came to its end.
    fn last(&mut self) -> Option<Output> {
        let streams = [Stream::Stdout, Stream::Stderr];
        streams.into_iter().find_map(|stream| {
            let rest = std::mem::take(&mut self.rest(stream).0);
            (!rest.is_empty()).then(|| Words::Bytes(rest.into()).output(stream))
        })
    }
}

/// A piece as it is written.
#[derive(Debug, PartialEq, Eq)]
enum Words {
    Text(String),
    Bytes(Bytes),
}

impl Words {
    fn output(self, stream: Stream) -> Output {
        match self {
            Self::Text(text) => Output { stream, text: Some(text), base64: None },
            Self::Bytes(bytes) => Output { stream, text: None, base64: Some(InputBytes::new(bytes)) },
        }
    }
}

impl Rest {
    /// This behind what was left: as text, as far as it is; a character whose end is still to come waits for it.
    fn with(&mut self, bytes: &[u8]) -> Option<Words> {
        let mut whole = std::mem::take(&mut self.0);
        whole.extend_from_slice(bytes);
        match String::from_utf8(whole) {
            Ok(text) => (!text.is_empty()).then_some(Words::Text(text)),
            Err(error) => {
                let (valid, is_begun) =
                    (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_none());
                let mut whole = error.into_bytes();
                if !is_begun {
                    return Some(Words::Bytes(whole.into()));
                }
                self.0 = whole.split_off(valid);
                // It was just seen to be text so far.
                String::from_utf8(whole).ok().filter(|text| !text.is_empty()).map(Words::Text)
            }
        }
    }
}

#[cfg(test)]
mod tests;
