//! What is really offered: the published tools of a data folder, and those of our own that the operator switched on.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use bailiwick_core::{
    Action, Admitted, Desk, Dialogue, Event, Happening, Hints, Listener, NoApprover, Offered, Refusal, Reply,
};
use bailiwick_types::{ErrorCode, RiskLevel, ToolId, visible};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::approval::AtClient;
use crate::native::{Bare, Cause, Telling, told};
use crate::offers::{Call, Failed, Future, Offers, Page};
use crate::passes::Passes;
use crate::{Era, Native, given};

/// The tools on a page: most clients that look no further than the first see everything.
const PAGE: u32 = 250;

/// The published tools of a data folder.
#[derive(Debug)]
pub struct Published {
    /// Not held: whoever opened it closes it, and a connection that lingers is not in the way.
    desk: Weak<Desk>,
    /// Those of our own that are on, and whether each always waits for a yes.
    natives: BTreeMap<&'static str, (Native, bool)>,
    bare: Bare,
    elicitation: RiskLevel,
}

impl Published {
    /// What this desk has, with the tools of our own that are on; where a client's own dialogue counts, it does up to a level.
    pub fn new(
        desk: &Arc<Desk>,
        natives: impl IntoIterator<Item = (Native, bool)>,
        bare: Bare,
        elicitation: RiskLevel,
    ) -> Self {
        let natives = natives.into_iter().map(|(native, asks)| (native.name(), (native, asks))).collect();
        Self { desk: Arc::downgrade(desk), natives, bare, elicitation }
    }

    fn desk(&self) -> Result<Arc<Desk>, Refusal> {
        self.desk.upgrade().ok_or_else(|| Refusal::new(ErrorCode::Unavailable, "the server is ending"))
    }

    async fn page(&self, who: &Admitted, after: Option<String>, era: Era) -> Result<Page, Refusal> {
        // Nothing runs, so no room is taken.
        let caller = Admitted { room: None, ..who.clone() }
            .caller(Arc::new(NoApprover), Arc::new(bailiwick_core::Deaf))?;
        let action = Action::ToolOffered { after: after.clone(), limit: PAGE + 1 };
        let Reply::Offered(offered) = self.desk()?.perform(caller, action).await? else {
            return Err(Refusal::new(
                ErrorCode::Internal,
                "the tools were asked for and something else came",
            ));
        };
        let mut tools: BTreeMap<String, Tool> = self
            .natives
            .values()
            .filter(|(native, _)| after.as_deref().is_none_or(|after| native.name() > after))
            .map(|(native, _)| (native.name().to_owned(), native.tool(&self.bare)))
            .collect();
        for one in offered {
            // A name of ours is ours.
            tools.entry(one.name.clone()).or_insert_with(|| tool_of(one, era));
        }
        let most = usize::try_from(PAGE).unwrap_or(usize::MAX);
        let is_more = tools.len() > most;
        let tools: Vec<Tool> = tools.into_values().take(most).collect();
        let next = tools.last().filter(|_| is_more).map(|tool| tool.name.clone().into_owned());
        Ok(Page { tools, next })
    }

    async fn run(&self, call: Call) -> Result<CallToolResult, Failed> {
        let Call { who, is_tied, name, arguments, era, unasked: _, line } = call;
        let correlation = who.correlation.clone();
        let (action, telling) = match self.natives.get(name.as_str()) {
            Some((native, asks)) => native
                .action(arguments, Cause { id: correlation, is_tied }, *asks)
                .map_err(|message| Refusal::new(ErrorCode::InvalidInput, message))?,
            None if ToolId::parse(&name).is_ok() => return Err(unknown(&name, None)),
            None => {
                let call = Action::ToolCall { tool: name.clone(), arguments, correlation, workspace: None };
                (call, Telling::Plain)
            }
        };
        let is_call = matches!(action, Action::ToolCall { .. });
        let up_to = match who.dialogue {
            Dialogue::Counts => Some(self.elicitation),
            Dialogue::Ignored => None,
        };
        let approver = AtClient { line: line.clone(), up_to };
        let caller = who.caller(Arc::new(approver), Arc::new(Passes::on(line)))?;
        let desk = self.desk()?;
        match desk.perform(caller, action).await {
            Ok(Reply::Called(report)) => Ok(given::report(&report, era)),
            Ok(Reply::Limits(limits)) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(limits.to_string())]);
                result.structured_content = Some(limits);
                Ok(result)
            }
            Ok(reply) => Ok(told(reply, telling)?),
            Err(refusal) if is_call && refusal.code == ErrorCode::NotFound => {
                Err(unknown(&name, refusal.hint.as_deref()))
            }
            Err(refusal) => Err(refusal.into()),
        }
    }

    async fn watch(&self, who: Admitted, changed: Arc<Notify>) -> Result<(), Refusal> {
        let ends_s = who.ends_s;
        let who = Admitted { room: None, ..who };
        let caller = who.caller(Arc::new(NoApprover), Arc::new(Notices(changed)))?;
        let desk = self.desk()?;
        let watching = desk.perform(caller, Action::Watch);
        match ends_s.map(until) {
            None => watching.await.map(drop),
            Some(left) => tokio::time::timeout(left, watching).await.map_or(Ok(()), |ended| ended.map(drop)),
        }
    }
}

/// How long a token still counts.
#[expect(clippy::disallowed_methods, reason = "whoever watches by a token goes when that ends")]
fn until(ends_s: u64) -> std::time::Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    std::time::Duration::from_secs(ends_s).saturating_sub(now)
}

impl Offers for Published {
    fn tools<'a>(
        &'a self,
        who: &'a Admitted,
        after: Option<String>,
        era: Era,
    ) -> Future<'a, Result<Page, Refusal>> {
        Box::pin(self.page(who, after, era))
    }

    fn call(&self, call: Call) -> Future<'_, Result<CallToolResult, Failed>> {
        Box::pin(self.run(call))
    }

    fn changes(&self, who: Admitted, changed: Arc<Notify>) -> Future<'_, Result<(), Refusal>> {
        Box::pin(self.watch(who, changed))
    }
}

fn unknown(name: &str, hint: Option<&str>) -> Failed {
    let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
    Failed::Unknown(format!("Unknown tool `{}`{hint}", visible(bailiwick_types::shortened(name).as_ref())))
}

/// A published tool as a client sees it.
fn tool_of(offered: Offered, era: Era) -> Tool {
    let Offered { name, title, description, input_schema, output_schema, hints, level, approval: _ } =
        offered;
    let mut tool =
        Tool::new_with_raw(name.clone(), description.map(Into::into), Arc::new(object(input_schema)));
    let shown = title.clone().unwrap_or(name);
    tool.title = title;
    // In the older era what a tool gives is an object or nothing.
    let fits = |schema: &Value| {
        era == Era::Stateless || schema.get("type").and_then(Value::as_str) == Some("object")
    };
    tool.output_schema = output_schema.filter(fits).map(|schema| Arc::new(object(schema)));
    tool.annotations = Some(annotations(&shown, hints));
    tool.meta = Some(risk_of(level));
    tool
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// What a policy says of a tool, in the words of the protocol.
pub(crate) fn annotations(title: &str, hints: Hints) -> ToolAnnotations {
    let Hints { read_only, destructive, idempotent, open_world } = hints;
    ToolAnnotations::with_title(title)
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(open_world)
}

pub(crate) fn risk_of(level: RiskLevel) -> MetaObject {
    MetaObject(JsonObject::from_iter([("bailiwick/risk".to_owned(), json!(level))]))
}

/// Notices that the list may have changed.
struct Notices(Arc<Notify>);

impl Listener for Notices {
    fn hear(&self, event: Event) {
        if let Event::Happened(happening) = event
            && matches!(*happening, Happening::Tool(_) | Happening::Missed(_))
        {
            self.0.notify_one();
        }
    }
}
