//! The record, as a server gives it: by pages with cursors of its own, or all of it as lines.

use bailiwick_core::{ExportPage, Refusal, Reply};
use http_body_util::BodyExt as _;
use serde_json::Value;

use crate::ask::Ask;
use crate::connect::not_understood;
use crate::remote::Remote;

/// The most records that a server gives at once.
const PAGE: u32 = 500;
/// The longest line of an export.
const MOST_OF_A_LINE: usize = 64 << 20;

/// The newest records, the oldest of them first.
pub(crate) async fn tail(remote: &Remote, limit: u32) -> Result<Reply, Refusal> {
    let mut records = gather(remote, None, "newest", limit).await?;
    records.reverse();
    Ok(Reply::Records(records))
}

/// Records from one on, in one direction.
pub(crate) async fn page(
    remote: &Remote,
    from: Option<u64>,
    newest_first: bool,
    limit: u32,
) -> Result<Reply, Refusal> {
    let order = if newest_first { "newest" } else { "oldest" };
    let is_within = |record: &Value| match (from, seq_of(record)) {
        (Some(from), Some(seq)) => {
            if newest_first {
                seq <= from
            } else {
                seq >= from
            }
        }
        _ => true,
    };
    Ok(Reply::Records(gather(remote, Some(&is_within), order, limit).await?))
}

async fn gather(
    remote: &Remote,
    is_within: Option<&(dyn Fn(&Value) -> bool + Sync)>,
    order: &str,
    limit: u32,
) -> Result<Vec<Value>, Refusal> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut records = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let at_once = limit.min(PAGE).to_string();
        let query = [("order", Some(order)), ("limit", Some(at_once.as_str())), ("after", after.as_deref())];
        let body = remote.body(Ask::page("/v1/audit", &query)).await?;
        let page: bailiwick_api::RecordPage = match serde_json::from_slice(&body) {
            Ok(page) => page,
            Err(error) => return Err(remote.strange(&error.to_string()).await),
        };
        records.extend(page.records.into_iter().filter(|record| is_within.is_none_or(|is| is(record))));
        after = page.next;
        if after.is_none() || records.len() >= wanted {
            records.truncate(wanted);
            return Ok(records);
        }
    }
}

/// Lines of the record from one on, with the signed heads among them.
///
/// A server gives all that there are. What is read ends before the record that would be one too many, so that the heads
/// behind the last one belong to it.
pub(crate) async fn export(remote: &Remote, from: u64, limit: u32) -> Result<Reply, Refusal> {
    let from = from.to_string();
    let ask = Ask::page("/v1/audit/export", &[("from", Some(&from))]).in_lines();
    let mut body = remote.head(ask).await?.into_body();
    let (mut lines, mut records, mut rest) = (Vec::new(), 0_u32, Vec::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| not_understood(&remote.server, &error.to_string()))?;
        let Ok(bytes) = frame.into_data() else { continue };
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if rest.len() + part.len() > MOST_OF_A_LINE {
                return Err(not_understood(&remote.server, "a line of the record is too long"));
            }
            rest.extend_from_slice(part);
            let Some(line) = rest.strip_suffix(b"\n") else { continue };
            let line = String::from_utf8(line.to_vec())
                .map_err(|_| not_understood(&remote.server, "a line of the record is not text"))?;
            rest.clear();
            let seq = serde_json::from_str::<Value>(&line).ok().as_ref().and_then(seq_of);
            if let Some(seq) = seq {
                if records == limit {
                    return Ok(Reply::Lines(ExportPage { lines, next: Some(seq) }));
                }
                records += 1;
            }
            lines.push(line);
        }
    }
    if rest.is_empty() {
        return Ok(Reply::Lines(ExportPage { lines, next: None }));
    }
    Err(not_understood(&remote.server, "the record breaks off within a line"))
}

/// The number of a record; none of a signed head among them.
fn seq_of(record: &Value) -> Option<u64> {
    record.get("seq").and_then(Value::as_u64)
}
