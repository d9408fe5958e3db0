//! The person behind the `ask` grants of a running call: whoever answers in the queue or for its caller, on the record.

use std::pin::Pin;

use bailiwick_audit::Kind;
use bailiwick_gateway::person::{Asked, Person, Said};
use bailiwick_types::{CallId, CorrelationId};
use serde_json::Value;

use super::{Names, Ready, approval};
use crate::approvals::{self, Ended, Subject};
use crate::journal::tool_ref;
use crate::{Caller, Core, EffectAsked, Question};

/// Puts one effect to whoever may answer for it.
pub(super) struct ByApprover {
    core: Core,
    caller: Caller,
    call_id: CallId,
    correlation: CorrelationId,
    question: Question,
    id: bailiwick_types::ToolId,
    policy_hash: String,
}

impl ByApprover {
    pub(super) fn new(core: Core, names: &Names<'_>, ready: &Ready, shown: &Value) -> Self {
        let question = approval::question(&core, names, ready, shown, None);
        Self {
            caller: names.caller.clone(),
            call_id: names.call_id,
            correlation: names.correlation.clone(),
            question,
            id: ready.id,
            policy_hash: ready.standing.hash.to_string(),
            core,
        }
    }

    async fn put(&self, asked: Asked) -> Said {
        let Asked { capability, effect, when: _, layer } = asked;
        let effect =
            EffectAsked { capability: capability.as_str().to_owned(), effect, layer: layer.to_string() };
        let names =
            Names { caller: &self.caller, call_id: self.call_id, correlation: self.correlation.clone() };
        let question = Question { effect: Some(effect), prompt: None, ..self.question.clone() };
        let subject = Subject { caller: &self.caller, tool: Some(self.id), bound: None };
        let Ok(mut heard) = approvals::put(&self.core, &subject, question.clone()).await else {
            // There was no room to ask.
            return Said::Nobody;
        };
        let mut entry = names.entry(Kind::Decision);
        let hash = self.question.hash.as_deref().unwrap_or_default();
        entry.tool = Some(tool_ref(self.id, &self.question.tool, hash));
        entry.policy_hash = Some(self.policy_hash.clone());
        entry.risk = Some(self.question.risk.clone());
        // A yes that is not on the record is none.
        if approvals::record(&self.core, &subject, &question, &mut heard, entry).await.is_err() {
            return Said::Nobody;
        }
        match heard.ended {
            Ended::Yes { .. } => Said::Yes,
            Ended::No { .. } => Said::No,
            Ended::Nobody | Ended::Ending | Ended::Withdrawn => Said::Nobody,
            Ended::Nothing => Said::Nothing,
        }
    }
}

impl Person for ByApprover {
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Said> + Send + '_>> {
        Box::pin(self.put(asked))
    }
}
