//! `bailiwick run`: code in a cell, its result on stdout, its console on stderr as it happens.

pub(crate) mod arguments;
mod asked;
mod lent;
mod subject;

use std::sync::Arc;

use bailiwick::types::{CorrelationId, Failure as Failed, LogLine};
use bailiwick::{Breadth, Finding, Recorded, Severity, Validate};
use bailiwick_config::files::{self, Readers};
use bailiwick_core::{Action, RunIntent, RunOutcome};
use serde_json::json;

use crate::cells::{block_on, builder};
use crate::desk::{ask, at_desk};
use crate::failure::Failure;
use crate::outside;
use crate::render::{Screen, bad, faint, plain, report, strong, warning};
use crate::resolved::Session;
use crate::typed::Run;
use subject::Subject;

/// The exit code of code that validation refuses.
const REFUSED: u8 = 2;

/// `bailiwick run FILE|-e CODE|-p EXPR`
pub(crate) fn run(screen: &mut Screen, session: &Session, what: &Run) -> Result<u8, Failure> {
    if session.asks_a_server() {
        return asked::run(screen, session, what);
    }
    let Subject { name, call, policy } = subject::read(session, what)?;
    let correlation = what.correlation.as_deref().map(CorrelationId::parse).transpose()?;
    let mut call =
        call.policy(Arc::clone(&policy)).validate(if what.no_check { Validate::No } else { Validate::First });
    if let Some(path) = &what.outside.http {
        call = outside::with_canned(call, outside::canned(path)?, &path.display().to_string())?;
    }
    let needs_net = what.outside.http.is_none() && what.replay.is_none() && !what.check;
    let net = if needs_net { outside::net(session, &policy)? } else { None };
    let baseline = &session.loaded.settings.baseline;
    let builder = builder(&what.cells, Breadth::Ordinary, Some(baseline));
    let mut builder = outside::offered(session, &what.outside, builder);
    if let Some(net) = net {
        builder = builder.net(net);
    }
    if what.check {
        return block_on(async {
            let findings = builder.build().await?.validate(call).await?;
            Ok(check(screen, &name, findings))
        });
    }
    let intent = RunIntent::of(&name, &call, &policy, correlation)?;
    let call = call.id(intent.call_id).correlation(intent.correlation_id.clone());
    let (call, lent) = lent::to(session, call, &policy, &intent.correlation_id)?;
    at_desk(session, &what.cells, async |desk| {
        let runtime = builder.build().await?;
        ask(desk, Action::RunBegins(intent.clone())).await?;
        let mut lines = Vec::new();
        let on_line = |line: LogLine| {
            if screen.wants_json() {
                lines.push(line);
            } else {
                report::console(&line);
            }
        };
        let running = async {
            match &what.record {
                None => (runtime.run_with(call, on_line).await, None),
                Some(_) => match runtime.record_with(call, on_line).await {
                    Ok(Recorded { report, recording }) => (Ok(report), recording),
                    Err(error) => (Err(error), None),
                },
            }
        };
        let ((report, recording), noted) = Box::pin(lent::beside(desk, lent, running)).await;
        ask(desk, Action::RunEnded(RunOutcome::of(intent, &report))).await?;
        noted?;
        let report = report?;
        if let Some(path) = &what.record {
            let recording = recording.ok_or(Failure::NotRecorded)?;
            let text = serde_json::to_string_pretty(&recording)
                .map_err(|error| Failure::Recording { path: path.clone(), source: error.into() })?;
            files::replace(path, &text, Readers::Owner)?;
        }
        Ok(report::tell(screen, &name, &report.with_lines(lines), session.verbose))
    })
}

fn check(screen: &mut Screen, name: &str, findings: Result<Vec<Finding>, Box<Failed>>) -> u8 {
    let findings = match findings {
        Ok(findings) => findings,
        Err(failure) => {
            if screen.wants_json() {
                screen.json(&json!({"ok": false, "error": failure, "findings": []}));
            } else {
                report::told(name, &failure, false);
            }
            return failure.code.class().exit_code();
        }
    };
    let blocked = findings.iter().any(|finding| finding.severity == Severity::Error);
    if screen.wants_json() {
        screen.json(&json!({"ok": !blocked, "error": null, "findings": findings}));
    } else if findings.is_empty() {
        screen.line(&[plain("nothing found")]);
    }
    if !screen.wants_json() {
        for Finding { name: what, why, instead, location, severity } in &findings {
            let lead = match severity {
                Severity::Error => bad("error: "),
                Severity::Warning => warning("warning: "),
            };
            screen.line(&[lead, strong(what), plain(": "), plain(why)]);
            screen.line(&[faint("  --> "), plain(&format!("{name}:{}:{}", location.line, location.column))]);
            screen.line(&[strong("  instead: "), plain(instead)]);
        }
    }
    if blocked { REFUSED } else { 0 }
}
