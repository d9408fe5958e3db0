//! A no in words: what a program is told, so that whoever reads its output knows what to ask for.
//!
//! Nothing of a request's headers or body is repeated.

use bailiwick_policy::{EgressScope, HostRule};
use bailiwick_types::{Denial, DenialReason, Refused};
use tokio::io::AsyncWriteExt as _;

use super::line::{Line, part};
use super::way::{Unreached, Way};

/// How many of the hosts that may be reached are told.
const MOST_TOLD: usize = 12;
/// How long whoever was refused may still send.
pub(super) const GOODBYE: std::time::Duration = std::time::Duration::from_secs(2);

/// What a program is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) status: u16,
    /// Behind the status, where some programs look only.
    pub(super) reason: String,
    pub(super) text: String,
}

/// What a program is told about a connection that there is not; a denial is written down as well.
pub(super) fn told(way: &Way, unreached: Unreached) -> Told {
    match unreached {
        Unreached::Denied(denial) => refused(way, *denial),
        Unreached::Failed(refused) => failed(&refused),
    }
}

/// Writes a denial down, and says it.
pub(super) fn refused(way: &Way, denial: Denial) -> Told {
    let status = match denial.reason {
        DenialReason::BadRequest | DenialReason::BadProtocol => 400,
        DenialReason::TooLarge => 431,
        DenialReason::TooMany => 503,
        _ => 403,
    };
    let asked = way.sealed.cleaned_text(&denial.asked);
    let reason = format!("Refused by Bailiwick: {asked}: {}", denial.reason);
    let Denial { rule, layer, reason: why, fix, .. } = &denial;
    let reach = match way.policy.scope() {
        EgressScope::Listed(rules) => format!("what this sandbox may reach: {}\n", listed(rules)),
        EgressScope::AnyPublic => String::new(),
    };
    let network = fix.as_ref().and_then(|fix| fix.overrides.get("network")).and_then(|value| value.as_str());
    let next = network.map_or_else(
        || "nothing that a sandbox can ask for allows it".to_owned(),
        |network| format!("to allow it, ask for: network: {network}"),
    );
    let meaning = why.meaning();
    let text =
        format!("Bailiwick refused: {asked}\nwhy: {why}: {meaning}\nrule: {rule} ({layer})\n{reach}{next}\n");
    way.refused(denial);
    Told { status, reason, text }
}

/// Says what the world did not give.
pub(super) fn failed(refused: &Refused) -> Told {
    let status = if refused.reason == DenialReason::Timeout.word() { 504 } else { 502 };
    let reason = format!("{}: {}", refused.reason, refused.message);
    Told { status, text: format!("Bailiwick allowed this, and it failed: {reason}\n"), reason }
}

fn listed(rules: &[HostRule]) -> String {
    let mut hosts: Vec<String> = rules.iter().take(MOST_TOLD).map(ToString::to_string).collect();
    if rules.len() > MOST_TOLD {
        hosts.push(format!("and {} more", rules.len() - MOST_TOLD));
    }
    hosts.join(", ")
}

/// Tells it in HTTP, and says goodbye.
pub(super) async fn tell(line: &mut Line, told: &Told) {
    let Told { status, reason, text } = told;
    let reason: String =
        reason.chars().map(|c| if matches!(c, ' '..='~') { c } else { '?' }).take(200).collect();
    let message = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    );
    let telling = async {
        line.writer.write_all(message.as_bytes()).await?;
        line.writer.flush().await
    };
    // Who does not listen any more needs not be told.
    if matches!(tokio::time::timeout(GOODBYE, telling).await, Ok(Ok(()))) {
        part(line, GOODBYE).await;
    }
}

/// What TLS says to a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alert {
    /// Policy said no.
    AccessDenied = 49,
    /// The other side could not be reached.
    InternalError = 80,
    /// Another server is named than may be reached here.
    UnrecognizedName = 112,
}

/// Tells it in TLS, and says goodbye.
pub(super) async fn alert(line: &mut Line, alert: Alert) {
    let message = [21, 3, 3, 0, 2, 2, alert as u8];
    let telling = async {
        line.writer.write_all(&message).await?;
        line.writer.flush().await
    };
    if matches!(tokio::time::timeout(GOODBYE, telling).await, Ok(Ok(()))) {
        part(line, GOODBYE).await;
    }
}
