//! The answer to a request on its way back: its head is read and written anew, its body passed on as it comes.
//!
//! It must never switch to another protocol that was not asked for, and never leave open where a body ends.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::AsyncWriteExt as _;

use super::exchange::{After, DROPPED, Prepared, Trouble, bad_answer, connection_options, push};
use super::line::{Activity, Reader, Writer};
use super::message::{
    AnswerHead, Chunks, Framing, HeadFault, Sink, Version, answer_framing, parse_answer, pass_body, read_head,
};
use super::sealing::Cleaner;
use super::way::Way;

/// The most messages before an answer.
const MOST_INTERIM: usize = 16;

/// Reads an answer and passes it on.
pub(super) async fn answer(
    way: &Way,
    reader: &mut Reader,
    writer: &mut Writer,
    prepared: &Prepared,
    activity: &Activity,
    has_begun: &AtomicBool,
) -> Result<After, Trouble> {
    for _ in 0..MOST_INTERIM {
        let head = next_head(way, reader).await?;
        activity.moved();
        let framing = answer_framing(&head, prepared.request.get().method()).map_err(failed)?;
        let plan = Plan::of(prepared, &head, framing)?;
        if plan.kind == Kind::Interim && prepared.version == Version::Http10 {
            continue;
        }
        let bytes = passed_on(way, prepared, &head, &plan);
        has_begun.store(plan.kind != Kind::Interim, Ordering::Relaxed);
        let sending = async {
            writer.write_all(&bytes).await?;
            writer.flush().await
        };
        sending.await.map_err(|_: std::io::Error| Trouble::Broken)?;
        activity.moved();
        match plan.kind {
            Kind::Interim => {}
            Kind::Switch => return Ok(After::Switched),
            Kind::Whole => {
                let look = prepared.is_cleaned.then(|| Cleaner::boxed(&way.sealed));
                let sink = Sink { writer, in_chunks: plan.in_chunks, look, activity };
                pass_body(reader, framing, Chunks::Extended, sink).await.map_err(|_| Trouble::Broken)?;
                // What is left over answers nothing that was asked.
                let is_clean = reader.unread().is_empty();
                return Ok(if plan.after == After::KeepBoth && !is_clean {
                    After::KeepClient
                } else {
                    plan.after
                });
            }
        }
    }
    Err(failed("the host sends messages before its answer and no answer"))
}

fn failed(why: &str) -> Trouble {
    Trouble::Failed(bad_answer(why))
}

async fn next_head(way: &Way, reader: &mut Reader) -> Result<AnswerHead, Trouble> {
    let head = match read_head(reader, way.bounds.head_bytes.saturating_mul(2)).await {
        Ok(Some(bytes)) => parse_answer(&bytes),
        Ok(None) => return Err(Trouble::Stale),
        Err(fault) => Err(fault),
    };
    head.map_err(|fault| match fault {
        HeadFault::Gone => Trouble::Stale,
        HeadFault::TooLarge => failed("the head of the answer is larger than it may be"),
        HeadFault::Malformed(why) => failed(&format!("the answer of the host is none: {why}")),
    })
}

/// What a message from a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One before the answer.
    Interim,
    /// The answer.
    Whole,
    /// The answer that lets both sides speak something else.
    Switch,
}

/// How an answer is framed for the program, and what may follow it.
struct Plan {
    kind: Kind,
    in_chunks: bool,
    length: Option<u64>,
    after: After,
}

impl Plan {
    fn of(prepared: &Prepared, head: &AnswerHead, framing: Framing) -> Result<Self, Trouble> {
        let kind = match head.status {
            101 if prepared.upgrades => Kind::Switch,
            101 => return Err(failed("the host speaks something else than was asked for")),
            100..=199 => Kind::Interim,
            _ => Kind::Whole,
        };
        if prepared.is_cleaned && !is_readable(head) {
            return Err(failed("the answer is in an encoding that cannot be searched for sealed values"));
        }
        let has_chunks = prepared.version == Version::Http11;
        let (in_chunks, length, ends) = match framing {
            Framing::Empty => (false, None, true),
            Framing::Length(length) if !prepared.is_cleaned => (false, Some(length), true),
            Framing::Length(_) | Framing::Chunked | Framing::UntilClose => (has_chunks, None, has_chunks),
        };
        let host_closes = connection_options(&head.headers).iter().any(|option| option == "close");
        let keeps_host = framing != Framing::UntilClose && head.version == Version::Http11 && !host_closes;
        let after = match (prepared.keeps && ends, keeps_host) {
            (true, true) => After::KeepBoth,
            (true, false) => After::KeepClient,
            (false, _) => After::Close,
        };
        Ok(Self { kind, in_chunks, length, after })
    }
}

fn is_readable(head: &AnswerHead) -> bool {
    let is_plain = |value: &[u8]| value.eq_ignore_ascii_case(b"identity");
    head.headers.iter().all(|(name, value)| name != "content-encoding" || is_plain(value))
}

/// The head of an answer as it is passed on.
fn passed_on(way: &Way, prepared: &Prepared, head: &AnswerHead, plan: &Plan) -> Vec<u8> {
    let options = connection_options(&head.headers);
    let clean = |text: &[u8]| {
        if prepared.is_cleaned { way.sealed.cleaned_header(text) } else { text.to_vec() }
    };
    let mut bytes = format!("HTTP/1.1 {} ", head.status).into_bytes();
    bytes.extend_from_slice(&clean(head.reason.as_bytes()));
    bytes.extend_from_slice(b"\r\n");
    for (name, value) in &head.headers {
        // An answer without a body may well tell how long it would be.
        let is_told_length = name == "content-length"
            && (prepared.request.get().method() == "HEAD" || head.status == 304 || is_zero(value));
        if is_told_length {
            push(&mut bytes, name, value);
        } else if !DROPPED.contains(&name.as_str())
            && !options.contains(name)
            && clean(name.as_bytes()) == name.as_bytes()
        {
            push(&mut bytes, name, &clean(value));
        }
    }
    match plan.kind {
        Kind::Interim => {}
        Kind::Switch => {
            push(&mut bytes, "connection", b"upgrade");
            push(&mut bytes, "upgrade", b"websocket");
        }
        Kind::Whole => {
            if let Some(length) = plan.length {
                push(&mut bytes, "content-length", length.to_string().as_bytes());
            } else if plan.in_chunks {
                push(&mut bytes, "transfer-encoding", b"chunked");
            }
            push(&mut bytes, "connection", if plan.after == After::Close { b"close" } else { b"keep-alive" });
        }
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn is_zero(length: &[u8]) -> bool {
    !length.is_empty() && length.iter().all(|byte| *byte == b'0')
}
