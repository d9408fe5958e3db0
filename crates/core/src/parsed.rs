//! A kept tool, read once: its document, its hashes, its checks, and what it may do under the policy of today.
//!
//! What is kept in memory is found by the very text it was read from, so that a row somebody changed behind our back
//! never meets what was made of the text before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_policy::{EffectivePolicy, Hints, Remembered, hints, risk};
use bailiwick_tool::{ApprovalMode, Hash, InputCheck, OutputCheck, Tool};
use bailiwick_types::{Risk, RiskLevel, ToolId};
use serde_json::Value;

use crate::Refusal;
use crate::command::Reach;
use crate::world::World;

/// How many tools are kept in memory; beyond that all are forgotten.
const MOST: usize = 4096;

/// A tool, ready to be looked at and run.
pub(crate) struct Parsed {
    pub(crate) tool: Tool,
    pub(crate) covered: Hash,
    pub(crate) texts: Hash,
    pub(crate) input: InputCheck,
    pub(crate) output: OutputCheck,
    pub(crate) standing: Result<Standing, Refusal>,
}

/// What a tool may do under the policy of today.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) policy: Arc<EffectivePolicy>,
    /// The policy as it is compared and kept.
    pub(crate) memory: Arc<Value>,
    /// SHA-256 of that.
    pub(crate) hash: Hash,
    pub(crate) risk: Risk,
    /// Whether a call waits for a person.
    pub(crate) needs_approval: bool,
    /// What the sandbox of a command can do; none of code.
    pub(crate) reach: Option<Arc<Reach>>,
}

impl Parsed {
    /// Makes everything of a document that does not depend on a call.
    pub(crate) fn of(tool: Tool, world: &World) -> Self {
        let (input, output) = (InputCheck::new(&tool), OutputCheck::new(&tool));
        let standing = Standing::of(&tool, world);
        Self { covered: tool.covered_hash(), texts: tool.texts_hash(), input, output, standing, tool }
    }

    /// What it may do, or why its policy cannot be resolved.
    pub(crate) fn standing(&self) -> Result<&Standing, Refusal> {
        self.standing.as_ref().map_err(Clone::clone)
    }
}

impl Standing {
    fn of(tool: &Tool, world: &World) -> Result<Self, Refusal> {
        let approvals = &world.settings.approvals;
        let is_named = approvals.required.iter().any(|name| name == tool.name().as_str());
        let mode = if is_named { ApprovalMode::Required } else { tool.approval().mode };
        let policy = world.policy_of(tool)?;
        let Some(block) = tool.command() else { return Ok(Self::under(policy, mode, world)) };
        let reach = Reach::of(tool, block, world)?;
        let (memory, badge) = (reach.memory(), reach.risk());
        let standing = Self::of_badge(policy, memory, badge, mode, world);
        Ok(Self { reach: Some(Arc::new(reach)), ..standing })
    }

    /// What anything may do under a policy.
    pub(crate) fn under(policy: EffectivePolicy, mode: ApprovalMode, world: &World) -> Self {
        let memory = Remembered::of(&policy);
        let badge = risk(&policy, policy.baseline());
        Self::of_badge(policy, memory, badge, mode, world)
    }

    fn of_badge(
        policy: EffectivePolicy,
        memory: Value,
        badge: Risk,
        mode: ApprovalMode,
        world: &World,
    ) -> Self {
        let needs_approval = match mode {
            ApprovalMode::Required => true,
            ApprovalMode::Disabled => false,
            ApprovalMode::Auto => badge.level >= world.settings.approvals.auto_from,
        };
        let badge = if needs_approval { credited(badge) } else { badge };
        Self {
            policy: Arc::new(policy),
            hash: Hash::of(&memory),
            memory: Arc::new(memory),
            risk: badge,
            needs_approval,
            reach: None,
        }
    }

    /// What it may do, as people see it.
    pub(crate) fn shown(&self) -> Value {
        match &self.reach {
            Some(reach) => reach.memory(),
            None => self.policy.to_json(),
        }
    }

    /// What clients are told that it may do.
    pub(crate) fn hints(&self) -> Hints {
        self.reach.as_ref().map_or_else(|| hints(&self.policy), |reach| reach.hints())
    }

    /// What it may do and might not when it passed, one line each.
    pub(crate) fn widened_since(&self, kept: &Value) -> Vec<String> {
        if let Some(reach) = &self.reach {
            return reach.widened_since(kept);
        }
        match Remembered::parse(kept) {
            Ok(before) => before.widened_in(&self.policy),
            // What cannot be compared is not known to be no wider.
            Err(_) => vec!["what it passed under cannot be read".to_owned()],
        }
    }

    /// The level that counts: the inherent one.
    pub(crate) const fn level(&self) -> RiskLevel {
        self.risk.level
    }
}

/// The badge of a tool whose every call waits for a yes.
fn credited(badge: Risk) -> Risk {
    Risk { credited: Some(badge.level.credited()), ..badge }
}

/// The tools that were read, by id.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: Mutex<HashMap<ToolId, Kept>>,
}

/// A text, and what was made of it.
type Kept = (Arc<str>, Arc<Parsed>);

impl Shelf {
    /// What was made of exactly this text before.
    pub(crate) fn find(&self, id: ToolId, document: &str) -> Option<Arc<Parsed>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&id).filter(|(text, _)| &**text == document).map(|(_, parsed)| Arc::clone(parsed))
    }

    /// Keeps what was made of this text.
    pub(crate) fn keep(&self, id: ToolId, document: &str, parsed: &Arc<Parsed>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(id, (document.into(), Arc::clone(parsed)));
    }
}
