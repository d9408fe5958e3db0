//! One `tools/call`: begins it or finds the one that waits, passes on what it says, puts its questions, gives its result.

use std::pin::{Pin, pin};
use std::sync::Arc;

use bailiwick_core::Admitted;
use rmcp::model::{CallToolRequestParams, CallToolResponse, InputResponses};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::audience::Audience;
use crate::door::{Door, names_cause};
use crate::going::{Broken, Ended, Going, Next};
use crate::line::{Asked, CannotAsk};
use crate::offers::{Call, Failed};
use crate::parked::{Bound, NotOurs, Waits};
use crate::put::put;
use crate::{Era, Line, given};

impl Door {
    /// Performs a call as far as this request goes.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        who: Admitted,
        era: Era,
        can_ask: bool,
        audience: &Audience,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let bound = Bound::to(&who, &request.name, &arguments);
        let going = if let Some(state) = request.request_state {
            let waits = self.shared.parked.find(&bound, &state).map_err(|NotOurs| not_ours())?;
            match answered(waits, request.input_responses.unwrap_or_default()) {
                Said::All(going) => going,
                Said::TooLittle(Waits { going, asked, .. }) => return self.park(&bound, going, asked),
            }
        } else {
            let (line, said) = Line::new(can_ask, who.actor.client.clone());
            let name = request.name.into_owned();
            let offers = Arc::clone(&self.shared.offers);
            let unasked = request.input_responses.unwrap_or_default();
            let is_tied = names_cause(context);
            let call = Call { who, is_tied, name, arguments, era, unasked, line };
            Going::start(&self.shared.tasks, said, async move { offers.call(call).await })
        };
        tokio::select! {
            biased;
            // Dropping what goes on ends it.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
            () = self.shared.over.cancelled() => Err(ErrorData::internal_error("the server has ended", None)),
            response = self.to_its_end(going, &bound, era, audience, &context.peer) => response,
        }
    }

    async fn to_its_end(
        &self,
        mut going: Going,
        bound: &Bound,
        era: Era,
        audience: &Audience,
        peer: &Peer<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut asking: Option<Asking> = None;
        loop {
            let next = {
                let mut next = pin!(going.next(audience));
                loop {
                    tokio::select! {
                        biased;
                        next = &mut next => break next,
                        () = heard(&mut asking), if asking.is_some() => asking = None,
                    }
                }
            };
            match next {
                Next::Ended(ended) => return answer(ended),
                Next::Asks(asked) if era == Era::Stateless => return self.park(bound, going, asked),
                Next::Asks(Asked { requests, answer }) => {
                    asking =
                        Some(Asking { said: Box::pin(put(peer.clone(), requests)), answer: Some(answer) });
                }
            }
        }
    }

    fn park(&self, bound: &Bound, going: Going, asked: Asked) -> Result<CallToolResponse, ErrorData> {
        match self.shared.parked.park(bound, going, asked) {
            Ok(result) => Ok(result.into()),
            Err(refusal) => given::refused(&refusal),
        }
    }
}

/// A question that the client of a session is asked right now.
struct Asking {
    said: Pin<Box<dyn Future<Output = Result<InputResponses, CannotAsk>> + Send>>,
    answer: Option<oneshot::Sender<Result<InputResponses, CannotAsk>>>,
}

/// Waits for the answer and hands it over; or until nobody waits for it any more, which takes the question back.
async fn heard(asking: &mut Option<Asking>) {
    let Some(Asking { said, answer }) = asking else { return };
    let Some(waits) = answer else { return };
    let said = tokio::select! {
        () = waits.closed() => return,
        said = said => said,
    };
    if let Some(answer) = answer.take() {
        // Somebody else may have been faster.
        let _ = answer.send(said);
    }
}

/// What a client that came back said.
enum Said {
    /// An answer to everything: the call goes on.
    All(Going),
    /// Not everything was answered: it is asked once more.
    TooLittle(Waits),
}

/// Hands over what a client brought, if that answers everything; what else it brought is left alone.
fn answered(waits: Waits, mut brought: InputResponses) -> Said {
    let keys: Vec<String> = waits.asked.requests.keys().cloned().collect();
    if keys.iter().any(|key| !brought.contains_key(key)) {
        return Said::TooLittle(waits);
    }
    let said: InputResponses = keys
        .into_iter()
        .map(|key| {
            let value = brought.remove(&key).unwrap_or(Value::Null);
            (key, value)
        })
        .collect();
    let Waits { going, asked, .. } = waits;
    // Somebody else may have been faster, or the call may have ended: then its result says so.
    let _ = asked.answer.send(Ok(said));
    Said::All(going)
}

fn answer(ended: Ended) -> Result<CallToolResponse, ErrorData> {
    match ended {
        Ok(result) => Ok(result.into()),
        Err(Broken::Failed(Failed::Unknown(message))) => Err(ErrorData::invalid_params(message, None)),
        Err(Broken::Failed(Failed::Lacks(what))) => Err(ErrorData::missing_required_client_capability(*what)),
        Err(Broken::Failed(Failed::Refused(refusal))) => given::refused(&refusal),
        Err(Broken::Fault) => Err(ErrorData::internal_error(
            "a fault of Bailiwick itself ended the call; nothing else is touched",
            None,
        )),
    }
}

fn not_ours() -> ErrorData {
    let message = "the requestState does not count: it was changed, used before, has expired, or belongs to another \
                   caller, tool or arguments. Nothing ran; call the tool without one to begin anew";
    ErrorData::invalid_params(message, None)
}
