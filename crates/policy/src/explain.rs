//! An answer for a person: yes or no, the rule, the layer, and on no the narrowest fix with its risk.

use bailiwick_types::{Denial, LayerName, Risk};
use serde_json::{Value, json};

use crate::decide::{Answers, Checked, Decision, FileQuestion, Pending, Query, Question as _};
use crate::{AskWhen, Capability, EffectivePolicy, FetchTarget, FileAccess, Root, risk};

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is allowed.
    Yes,
    /// It is allowed once a person says yes.
    Ask,
    /// It is denied.
    No,
}

impl Answer {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Ask => "ask",
            Self::No => "no",
        }
    }
}

/// Why a question is answered as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Yes, ask or no.
    pub answer: Answer,
    /// The question in one line.
    pub asked: String,
    /// The capability it needs.
    pub capability: Capability,
    /// The rule that decided.
    pub rule: String,
    /// Whose rule it is.
    pub layer: LayerName,
    /// What else is worth knowing: where the path lies, which addresses are accepted.
    pub note: Option<String>,
    /// The denial, if the answer is no.
    pub denial: Option<Denial>,
    /// The risk of the policy as it is.
    pub risk: Risk,
}

impl Explanation {
    /// As JSON: on no the `Denial` itself with `answer` and the present risk beside its fields.
    pub fn to_json(&self) -> Value {
        let Self { answer, asked, capability, rule, layer, note, denial, risk } = self;
        let mut json = json!({"answer": answer.word()});
        let said = match denial {
            Some(denial) => serde_json::to_value(denial).unwrap_or(Value::Null),
            None => json!({"capability": capability.name(), "asked": asked, "rule": rule, "layer": layer}),
        };
        if let (Value::Object(map), Value::Object(said)) = (&mut json, said) {
            map.extend(said);
            map.insert("note".to_owned(), json!(note));
            map.insert("currentRisk".to_owned(), json!(risk));
        }
        json
    }
}

/// Answers a question and says why.
pub fn explain(policy: &EffectivePolicy, query: &Query<'_>) -> Explanation {
    let risk = risk(policy, policy.baseline());
    match query {
        Query::Capability(capability) => {
            let decision = policy.decide(capability, Answers::default());
            told(risk, *capability, &decision, |capability| {
                let (rule, layer) = granted_by(policy, *capability);
                Granted { asked: capability.name().to_owned(), rule, layer, note: None }
            })
        }
        Query::Fetch(question) => {
            let decision = policy.decide(question, Answers::default());
            told(risk, Capability::NetFetch, &decision, request_granted)
        }
        Query::File(question) => {
            let decision = policy.decide(question, Answers::default());
            told(risk, question.op.capability(), &decision, |access| file_granted(question, access))
        }
    }
}

/// What a yes rests on.
struct Granted {
    asked: String,
    rule: String,
    layer: LayerName,
    note: Option<String>,
}

fn told<T>(
    risk: Risk,
    capability: Capability,
    decision: &Decision<T>,
    grant: impl Fn(&T) -> Granted,
) -> Explanation {
    let (answer, granted) = match decision {
        Decision::Deny(denial) => {
            return Explanation {
                answer: Answer::No,
                asked: denial.asked.clone(),
                capability,
                rule: denial.rule.clone(),
                layer: denial.layer.clone(),
                note: None,
                denial: Some((**denial).clone()),
                risk,
            };
        }
        Decision::Allow(checked) => (Answer::Yes, grant(Checked::get(checked))),
        Decision::Ask(pending) => {
            let mut granted = grant(Pending::waiting(pending));
            let when = match pending.when() {
                AskWhen::First => "before the first one of a call",
                AskWhen::Always => "before every one",
            };
            let asking = format!("a person is asked {when} ({})", pending.layer());
            granted.note = Some(granted.note.map_or(asking.clone(), |note| format!("{note}; {asking}")));
            (Answer::Ask, granted)
        }
    };
    let Granted { asked, rule, layer, note } = granted;
    Explanation { answer, asked, capability, rule, layer, note, denial: None, risk }
}

fn granted_by(policy: &EffectivePolicy, capability: Capability) -> (String, LayerName) {
    use crate::capability::Grant;
    match capability.grant() {
        Grant::Listed => {
            let from = policy.powers.allow_from.get(capability as usize).copied().unwrap_or(0);
            (format!("allow: {capability}"), policy.layer_name(from))
        }
        Grant::Network => {
            (format!("network: {}", policy.net.mode.value), policy.layer_name(policy.net.mode.layer))
        }
        Grant::FileRead => ("fileRead: true".to_owned(), policy.layer_name(policy.files.read.layer)),
        Grant::FileWrite => ("fileWrite: true".to_owned(), policy.layer_name(policy.files.write.layer)),
        Grant::Destructive => ("destructive: true".to_owned(), policy.layer_name(policy.files.delete.layer)),
    }
}

fn request_granted(target: &FetchTarget) -> Granted {
    let note = match target.reach() {
        crate::Reach::Public => "every address the name resolves to must be public",
        crate::Reach::Private => {
            "private addresses are accepted; metadata addresses and own listeners are not"
        }
    };
    Granted {
        asked: format!("{} {}", target.method(), target.url()),
        rule: target.rule().to_owned(),
        layer: target.layer().clone(),
        note: Some(note.to_owned()),
    }
}

fn file_granted(question: &FileQuestion<'_>, access: &FileAccess) -> Granted {
    let place = match access.root() {
        Root::Workspace => format!("{} in the workspace", access.below()),
        Root::ReadRoot(root) => format!("{} under the read root {root}", access.below()),
    };
    let key = access.op().capability().grant().key();
    Granted {
        asked: question.asked(),
        rule: format!("{key}: true"),
        layer: access.layer().clone(),
        note: Some(place),
    }
}
