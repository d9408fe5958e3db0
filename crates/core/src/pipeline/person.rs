//! The person behind the `ask` grants of a running call: whoever answers in the queue or for its caller, on the record.

use std::pin::Pin;

use bailiwick_audit::{Kind, ToolRef};
use bailiwick_gateway::person::{Asked, Person, Said};
use bailiwick_types::{CallId, CorrelationId, ToolId};

use super::Names;
use crate::approvals::{self, Ended, Subject};
use crate::{Caller, Core, EffectAsked, Question};

/// Puts one effect to whoever may answer for it.
pub(crate) struct ByApprover {
    core: Core,
    caller: Caller,
    call_id: CallId,
    correlation: CorrelationId,
    action: &'static str,
    question: Question,
    id: Option<ToolId>,
}

impl ByApprover {
    /// `question` is what a person would be asked about the whole call; `id` is its tool, if it is one.
    pub(crate) fn new(core: Core, names: &Names<'_>, question: Question, id: Option<ToolId>) -> Self {
        Self {
            caller: names.caller.clone(),
            call_id: names.call_id,
            correlation: names.correlation.clone(),
            action: names.action,
            question,
            id,
            core,
        }
    }

    async fn put(&self, asked: Asked) -> Said {
        let Asked { capability, effect, when: _, layer } = asked;
        let effect =
            EffectAsked { capability: capability.as_str().to_owned(), effect, layer: layer.to_string() };
        let names = Names {
            caller: &self.caller,
            call_id: self.call_id,
            correlation: self.correlation.clone(),
            action: self.action,
        };
        let question = Question { effect: Some(effect), prompt: None, ..self.question.clone() };
        let subject = Subject { caller: &self.caller, tool: self.id, bound: None };
        let Ok(mut heard) = approvals::put(&self.core, &subject, question.clone()).await else {
            // There was no room to ask.
            return Said::Nobody;
        };
        let mut entry = names.entry(Kind::Decision);
        let (name, hash) = (self.question.tool.clone(), self.question.hash.clone());
        entry.tool = Some(ToolRef { id: self.id, name, hash });
        entry.policy_hash = Some(self.question.policy_hash.clone());
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
