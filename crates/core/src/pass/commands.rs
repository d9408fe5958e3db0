//! The runs of a command tool's Local Pass: each in a sandbox of its own, made by the very way that its callers' are.
//!
//! There are no canned answers for a command, and a folder that it may write to is the host's own. So a tool that reaches
//! out of its sandbox runs here only where somebody said `live`; without that its pass is refused, and not weakened.

use std::time::Instant;

use bailiwick_runtime::new_id;
use bailiwick_tool::{CommandBlock, Test};
use bailiwick_types::ErrorCode;
use serde_json::{Map, Value};

use super::rehearsal::{LONGEST, TEST_VALUES, given, line, misfit, misses, not_begun, took_too_long};
use crate::command::{self, Order, Ran};
use crate::parsed::{Parsed, Standing};
use crate::pipeline::checked_output;
use crate::{Caller, Core, Event, Refusal, TestLine};

/// Runs the test values, then each test.
pub(super) async fn all(
    core: &Core,
    caller: &Caller,
    parsed: &Parsed,
    block: &CommandBlock,
    values: Map<String, Value>,
    live: bool,
    lines: &mut Vec<TestLine>,
) -> Result<(), Refusal> {
    if block.reaches_out() && !live {
        let message =
            "its tests would reach out of the sandbox, by its network or a folder that it writes to";
        return Err(Refusal::new(ErrorCode::Validation, message).with_hint(
            "if that is meant: bailiwick tool import FILE, bailiwick tool test NAME --live, then publish it",
        ));
    }
    let tool = &parsed.tool;
    let setting = Setting { core, caller, parsed, block, standing: parsed.standing()? };
    let begun = Instant::now();
    let tests = tool.tests().iter().map(|test| (test.name.as_str(), test.input.clone(), Some(test)));
    for (name, input, test) in std::iter::once((TEST_VALUES, values, None)).chain(tests) {
        if begun.elapsed() > LONGEST {
            return Err(took_too_long());
        }
        let told = setting.run(name, input, test).await?;
        let tool = tool.name().as_str().to_owned();
        caller.listener.hear(Event::Test { tool, line: Box::new(told.clone()) });
        lines.push(told);
    }
    Ok(())
}

/// What all runs of one pass share.
struct Setting<'a> {
    core: &'a Core,
    caller: &'a Caller,
    parsed: &'a Parsed,
    block: &'a CommandBlock,
    standing: &'a Standing,
}

impl Setting<'_> {
    async fn run(
        &self,
        name: &str,
        input: Map<String, Value>,
        test: Option<&Test>,
    ) -> Result<TestLine, Refusal> {
        let Self { core, caller, parsed, block, standing } = self;
        let arguments = match parsed.input.check(input) {
            Ok(arguments) => arguments,
            Err(problems) => return Ok(misfit(name, problems, test)),
        };
        let order = match Order::of(core, &parsed.tool, block, &arguments) {
            Ok(order) => order,
            Err(refusal) if refusal.code == ErrorCode::InvalidInput => {
                return Ok(not_begun(name, refusal.message, refusal.hint, test));
            }
            Err(refusal) => return Err(refusal),
        };
        let call_id = new_id().map_err(|error| Refusal::new(error.code(), error.to_string()))?;
        let chosen = command::choose(core, &order, &call_id.into()).await?;
        let ids = (call_id, call_id.into());
        let Ran { report, told: _ } = command::run(core, order, &chosen, ids, standing.risk.clone()).await?;
        let report = checked_output(parsed, report);
        for line in report.logs() {
            caller.listener.hear(Event::Log(line.clone()));
        }
        let missed = test.map_or_else(Vec::new, |test| misses(test, given(&report)));
        Ok(line(name, report.usage().wall_ms, missed, report.failure().cloned(), test))
    }
}
