//! A question to the client of a session, as a request to it. One that nobody waits for any more is taken back, so that no
//! dialogue stays open for an answer that would not count.

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientResult, InputRequest, InputRequests, InputResponses, RequestId,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use tokio::runtime::Handle;

use crate::line::CannotAsk;

/// Puts questions, one after another. Dropping the future takes back the one that is open.
pub(crate) async fn put(
    peer: Peer<RoleServer>,
    requests: InputRequests,
) -> Result<InputResponses, CannotAsk> {
    let mut said = InputResponses::new();
    for (key, request) in requests {
        let InputRequest::Elicitation(form) = request else { return Err(CannotAsk) };
        let request = ServerRequest::ElicitRequest(form);
        let asked = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let asked = asked.map_err(|_| CannotAsk)?;
        let mut open = Open { peer: peer.clone(), id: Some(asked.id.clone()) };
        let answer = asked.await_response().await;
        open.id = None;
        let Ok(ClientResult::ElicitResult(result)) = answer else { return Err(CannotAsk) };
        said.insert(key, serde_json::to_value(result).map_err(|_| CannotAsk)?);
    }
    Ok(said)
}

/// A question that waits for its answer.
struct Open {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let why = "somebody else answered, or the call is over".to_owned();
            // A client that is gone needs no word.
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), Some(why))).await;
        });
    }
}
