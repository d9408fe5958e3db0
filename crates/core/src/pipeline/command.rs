//! What a call of a command tool does otherwise than one of code: it is put together, placed and run by `command`.

use bailiwick_redact::Redactor;
use bailiwick_runtime::redacted;
use bailiwick_tool::{CommandBlock, Tool};
use bailiwick_types::{CallReport, ErrorCode};
use serde_json::{Map, Value};

use super::perform::{Placed, Prepared, Work};
use super::{Names, Ready, checked_output};
use crate::command::{self, Chosen, Order, Ran};
use crate::{Core, Event, Refusal};

/// The call as a sandbox will get it, and its arguments as people may see them.
pub(super) fn prepare(
    core: &Core,
    ready: &Ready,
    block: &CommandBlock,
    arguments: &Map<String, Value>,
    workspace: Option<&str>,
    names: &Names<'_>,
) -> Result<Prepared, Refusal> {
    if workspace.is_some() {
        let message = "a command has no workspace: it begins in an empty folder of its own";
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("leave the workspace out"));
    }
    let order = Order::of(core, &ready.parsed.tool, block, arguments)?;
    // What cannot run is told before a person is asked about it.
    order.resolved(core, &names.correlation)?;
    let shown = redacted(&order.redactor, Value::Object(arguments.clone()));
    Ok(Prepared { work: Work::Command(Box::new(order)), shown })
}

/// Where work is done. The sandbox of a command is resolved here, after a person said yes: what holds now counts.
pub(super) async fn place(core: &Core, names: &Names<'_>, work: Work) -> Result<Placed, Refusal> {
    Ok(match work {
        Work::Cell(call) => Placed::Cell(call),
        Work::Command(order) => {
            let chosen = command::choose(core, &order, &names.correlation).await?;
            Placed::Command(order, Box::new(chosen))
        }
    })
}

/// Runs a call in a sandbox of its own; with the report comes what the record tells of the command.
pub(super) async fn run_command(
    core: &Core,
    names: &Names<'_>,
    ready: &Ready,
    order: Order,
    chosen: &Chosen,
) -> Result<(CallReport, Option<Value>), Refusal> {
    let ids = (names.call_id, names.correlation.clone());
    let Ran { report, told } = command::run(core, order, chosen, ids, ready.standing.risk.clone()).await?;
    for line in report.logs() {
        names.caller.listener.hear(Event::Log(line.clone()));
    }
    Ok((checked_output(&ready.parsed, report), Some(told)))
}

/// What masks the secrets of a command tool.
pub(super) fn redactor_of_command(core: &Core, tool: &Tool) -> Result<Redactor, Refusal> {
    let secrets = core.inner.world.secrets_of(tool)?;
    Redactor::new(secrets.iter().map(|(_, value)| value)).map_err(|error| {
        Refusal::new(ErrorCode::InvalidInput, error.to_string()).with_hint("give the secret another value")
    })
}
