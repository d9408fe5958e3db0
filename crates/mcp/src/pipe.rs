//! A client at the other end of a pipe: one line is one message.

use std::sync::Arc;

use bailiwick_core::Admitted;
use rmcp::RoleServer;
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::Mcp;
use crate::door::{Alone, Door};
use crate::paced::Paced;

/// The most calls of one client at the end of a pipe that are under way.
const MOST_CALLS: usize = 64;

/// Why a pipe could not be served.
#[derive(Debug, thiserror::Error)]
pub enum PipeError {
    /// What came first was nothing that begins a conversation.
    #[error("the client did not begin as the protocol says: {0}")]
    Beginning(String),
    /// A fault of ours ended it.
    #[error("a fault of Bailiwick itself ended the conversation")]
    Fault,
}

impl Mcp {
    /// Serves whoever is at the other end of this process's standard streams, until they are closed.
    pub async fn standard_streams(&self, who: Admitted, ending: CancellationToken) -> Result<(), PipeError> {
        let (reads, writes) = rmcp::transport::io::stdio_pipes();
        self.pipe(reads, writes, who, ending).await
    }

    /// Serves whoever is at the other end of these streams.
    pub async fn pipe<R, W>(
        &self,
        reads: R,
        writes: W,
        who: Admitted,
        ending: CancellationToken,
    ) -> Result<(), PipeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let transport =
            AsyncRwTransport::<RoleServer, R, W>::new(reads, writes).with_max_line_length(self.0.body_bytes);
        let transport = Paced::new(transport);
        let alone = Alone { who, room: Arc::new(Semaphore::new(MOST_CALLS)) };
        let door = Door::new(Arc::clone(&self.0), Some(alone));
        // Of its own: what is served cancels it when it is over, and others may hear the one that was given.
        let ending = ending.child_token();
        match serve_server_with_ct(door, transport, ending).await {
            Ok(running) => running.waiting().await.map(drop).map_err(|_| PipeError::Fault),
            // Whoever goes before saying anything wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => Err(PipeError::Beginning(why(error))),
        }
    }
}

/// Why it did not begin, without what was sent: that may be long, and is not for a log.
fn why(error: ServerInitializeError) -> String {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            "what came first was no request that begins a conversation".to_owned()
        }
        ServerInitializeError::InitializeFailed(refused) => refused.message.into_owned(),
        ServerInitializeError::TransportError { .. } => "nothing could be written to it".to_owned(),
        _ => "its hello had no answer".to_owned(),
    }
}
