//! A pipe that is read no faster than its answers are taken: who reads nothing is, after a while, not read either. So what
//! waits to be written is bounded, whatever a client sends.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;

/// The most requests that are not answered yet: more than there can be calls and questions of one client.
const MOST: usize = 512;

/// A transport with a pace.
pub(crate) struct Paced<T> {
    inner: T,
    open: Arc<Open>,
}

impl<T> Paced<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, open: Arc::default() }
    }
}

/// The requests that are not answered yet.
#[derive(Default)]
struct Open {
    ids: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl Open {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self, id: &RequestId) {
        if self.ids().remove(id) {
            self.fewer.notify_one();
        }
    }

    async fn has_room(&self) {
        loop {
            let fewer = self.fewer.notified();
            if self.ids().len() < MOST {
                return;
            }
            fewer.await;
        }
    }
}

/// An answer on its way; the request is closed when it is there, or lost.
struct Closes {
    open: Arc<Open>,
    id: Option<RequestId>,
}

impl Drop for Closes {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.open.closed(id);
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Paced<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let closes = Closes { open: Arc::clone(&self.open), id };
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            drop(closes);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.open.has_room().await;
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Request(request) => drop(self.open.ids().insert(request.id.clone())),
            // What is cancelled is not answered.
            JsonRpcMessage::Notification(notice) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notice.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.closed(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
