//! HTTP/1.1 as it is on the wire, read strictly: what two readers could understand differently is refused.
//!
//! Heads are read whole within bounds and written anew; bodies are passed on as they come. Nothing here decides where a
//! message goes.

mod body;
mod framing;
mod head;

pub(super) use body::{BodyFault, Chunks, Look, Sink, pass_body};
pub(super) use framing::{Framing, answer_framing, request_framing};
pub(super) use head::{
    AnswerHead, HeadFault, Headers, RequestHead, Version, parse_answer, parse_request, read_head,
};
