//! A run of code that is no tool, as the record tells it. It runs in the process of whoever asked for it; only what the
//! record says of it passes through here.

use bailiwick_policy::{EffectivePolicy, Remembered, risk};
use bailiwick_runtime::{Call, RunError, new_id, redacted};
use bailiwick_tool::Hash;
use bailiwick_types::{CallReport, CorrelationId, ErrorCode, Usage};
use serde_json::Value;

use crate::{Refusal, RunIntent, RunOutcome};

impl RunIntent {
    /// What is about to be run. The call has to be given the id that this names.
    pub fn of(
        name: &str,
        call: &Call,
        policy: &EffectivePolicy,
        correlation: Option<CorrelationId>,
    ) -> Result<Self, Refusal> {
        let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        let redactor = call.redactor().map_err(|error| {
            Refusal::new(ErrorCode::InvalidInput, error.to_string())
                .with_hint("give the secret another value")
        })?;
        Ok(Self {
            name: name.to_owned(),
            code_hash: Hash::of_bytes(call.source().as_bytes()).to_string(),
            policy_hash: Hash::of(&Remembered::of(policy)).to_string(),
            risk: risk(policy, policy.baseline()),
            arguments: redacted(&redactor, Value::Object(call.given().clone())),
            call_id,
            correlation_id: correlation.unwrap_or_else(|| call_id.into()),
        })
    }
}

impl RunOutcome {
    /// How a run ended.
    pub fn of(intent: RunIntent, report: &Result<CallReport, RunError>) -> Self {
        match report {
            Ok(report) => Self {
                intent,
                code: report.failure().map(|failure| failure.code),
                message: report.failure().map(|failure| failure.message.clone()),
                usage: *report.usage(),
            },
            Err(error) => Self {
                intent,
                code: Some(error.code()),
                message: Some(error.to_string()),
                usage: Usage::default(),
            },
        }
    }
}
