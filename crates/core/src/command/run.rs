//! A command tool's call in a sandbox of its own, which is gone when it has ended.

use std::sync::Arc;

use bailiwick_sandbox::{Backend, Sandbox};
use bailiwick_types::{CallId, CallReport, CorrelationId, ErrorCode, Risk};
use serde_json::{Value, json};

use super::order::Order;
use super::outcome::{lines, outcome};
use crate::sandboxes::{Keep, Resolved, attend, backend_told, result_told, spec_told, usage_told};
use crate::{Core, Mute, Refusal};

/// Where a command will run.
pub(crate) struct Chosen {
    resolved: Resolved,
    backend: Arc<dyn Backend>,
}

/// What came of it.
pub(crate) struct Ran {
    /// As its caller gets it.
    pub(crate) report: CallReport,
    /// As the record tells it, beside the outcome: how the command ended and which walls stood.
    pub(crate) told: Value,
}

impl Chosen {
    /// As the record tells it.
    pub(crate) fn told(&self) -> Value {
        let mut told = backend_told(self.backend.as_ref());
        if let Value::Object(fields) = &mut told {
            fields.insert("sandbox".to_owned(), spec_told(self.resolved.spec()));
        }
        told
    }
}

/// Resolves the sandbox of a call and picks the backend that holds all that it demands.
pub(crate) async fn choose(
    core: &Core,
    order: &Order,
    correlation: &CorrelationId,
) -> Result<Chosen, Refusal> {
    let resolved = order.resolved(core, correlation)?;
    let backend = resolved.pick(&core.inner.sandboxes.backends).await?;
    Ok(Chosen { resolved, backend })
}

/// Runs a call. Whoever goes away meanwhile ends it; so does the core when it closes.
pub(crate) async fn run(
    core: &Core,
    order: Order,
    chosen: &Chosen,
    (call_id, correlation): (CallId, CorrelationId),
    risk: Risk,
) -> Result<Ran, Refusal> {
    let Chosen { resolved, backend } = chosen;
    let Order { block, command, redactor, .. } = order;
    let sandbox: Box<dyn Sandbox> = resolved.create(backend.as_ref()).await?;
    let attended = attend(sandbox.as_ref(), command, &Mute, Keep::Captured, correlation.clone());
    let result = tokio::select! {
        result = attended => result,
        () = core.inner.closing.cancelled() => {
            let message = "the process that runs it is ending, and so did the command";
            return Err(Refusal::new(ErrorCode::Cancelled, message).with_hint("call it again"));
        }
    };
    // Nothing of it is left before anybody hears how it ended.
    sandbox.terminate().await?;
    let result = result?;
    let outcome = outcome(&block, &result, &resolved.spec().limits, &redactor);
    let (lines, dropped) = lines(&result, &redactor);
    let report = CallReport::new(outcome, call_id, correlation, risk, result.receipt.clone())
        .with_usage(usage_told(&result.usage))
        .with_logs(lines, dropped);
    let mut told = result_told(&result);
    if let Value::Object(fields) = &mut told {
        fields.shift_remove("ok");
        fields.insert("warnings".to_owned(), json!(sandbox.warnings()));
    }
    Ok(Ran { report, told })
}
