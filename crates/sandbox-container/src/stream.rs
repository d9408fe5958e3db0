//! The stream to the agent: the container's standard input and output, as the engine carries them.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bollard::container::{AttachContainerResults, LogOutput};
use bollard::query_parameters::AttachContainerOptions;
use bytes::{Buf as _, Bytes};
use futures_util::{Stream, StreamExt as _};
use tokio::io::{AsyncRead, ReadBuf};

use bailiwick_agent_host::link::Greeting;

use crate::engine::{Engine, EngineError};

/// Why nothing comes any more, if it is the engine's end.
pub(crate) type Silence = Arc<OnceLock<String>>;

/// What the agent says.
struct Output {
    pieces: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    rest: Bytes,
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        while self.rest.is_empty() {
            match ready!(self.pieces.as_mut().poll_next(context)) {
                Some(piece) => self.rest = piece,
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = self.rest.len().min(room.remaining());
        room.put_slice(self.rest.get(..length).unwrap_or_default());
        self.rest.advance(length);
        Poll::Ready(Ok(()))
    }
}

/// Attaches to a container that is about to be started. When its stream ends, it is looked whether the engine is still there.
pub(crate) async fn attach(
    engine: &Arc<Engine>,
    container: &str,
    silence: Silence,
) -> Result<Greeting, EngineError> {
    let options = AttachContainerOptions {
        stream: true,
        stdin: true,
        stdout: true,
        ..AttachContainerOptions::default()
    };
    let attached =
        engine.ask("attach to a container", engine.docker.attach_container(container, Some(options)));
    let AttachContainerResults { output, input } = attached.await?;
    let said = output
        // A stream that breaks is one that ends: why is looked at then.
        .take_while(|piece| std::future::ready(piece.is_ok()))
        .filter_map(|piece| {
            std::future::ready(match piece {
                Ok(LogOutput::StdOut { message }) => Some(message),
                _ => None,
            })
        });
    let engine = engine.clone();
    let last = async move {
        if let Some(why) = engine.silence().await {
            // The first reason is the reason.
            let _known = silence.set(why);
        }
        Bytes::new()
    };
    let pieces = said.chain(futures_util::stream::once(last));
    let reader = Output { pieces: Box::pin(pieces), rest: Bytes::new() };
    Ok(Greeting::new(Box::new(reader), Box::new(input)))
}
