//! The tools that can be called, as a model sees them: what they are for and what their policy lets them do.
//!
//! Nothing of how a tool is made leaves here.

use bailiwick_policy::EffectivePolicy;
use serde_json::Value;

use super::view::page_of_offered;
use crate::parsed::Parsed;
use crate::pipeline::find;
use crate::{Core, Hints, Offered, Refusal, Reply};

/// A page of them.
pub(crate) async fn offered(core: &Core, after: Option<String>, limit: u32) -> Result<Reply, Refusal> {
    let mut all = Vec::new();
    for line in page_of_offered(core, after, limit).await? {
        // Whatever changed since the page was read is not offered.
        let row = find(core, &line.id.to_string()).await?;
        if let Ok(parsed) = core.parsed(&row) {
            all.extend(of(&parsed));
        }
    }
    Ok(Reply::Offered(all))
}

fn of(parsed: &Parsed) -> Option<Offered> {
    let standing = parsed.standing.as_ref().ok()?;
    let tool = &parsed.tool;
    Some(Offered {
        name: tool.name().as_str().to_owned(),
        title: tool.title().map(str::to_owned),
        description: tool.description().map(str::to_owned),
        input_schema: tool.input_schema(),
        output_schema: tool.output().cloned().map(Value::from),
        hints: hints(&standing.policy),
        level: standing.level(),
        approval: standing.needs_approval,
    })
}

/// What a policy lets a tool do.
const fn hints(_policy: &EffectivePolicy) -> Hints {
    Hints { read_only: false, destructive: true, idempotent: false, open_world: true }
}
