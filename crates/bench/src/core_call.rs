//! What the pipeline adds to a call: a published tool through the core, beside the same code in a bare runtime.

use std::time::Instant;

use bailiwick::{Call, Runtime};
use bailiwick_core::{Action, Core, Document, Reasons, Reply};
use serde_json::{Map, json};

use crate::calls::milliseconds;
use crate::data_directory::{DataDirectory, perform};
use crate::failure::Failure;
use crate::row::{Row, Target, Times};

/// Rounds in which the two take turns.
const ROUNDS: usize = 20;
const CALLS: usize = 50;

const CODE: &str = "return 40+2";

/// The rows about calls through the core.
pub(crate) async fn core_call() -> Result<Vec<Row>, Failure> {
    let directory = DataDirectory::new()?;
    let core = directory.core(Runtime::builder()).await?;
    let text = format!(
        "name: answer\ndescription: Gives the answer.\ntests: [{{input: {{}}, equals: 42}}]\ncode: {CODE}\n"
    );
    let document = Document { name: "answer.tool.yaml".to_owned(), text };
    perform(
        &core,
        Action::ToolPublishDocument { document, reasons: Reasons::default(), approval_off: false },
    )
    .await?;
    let runtime = Runtime::builder().build().await?;
    let (mut through, mut bare) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        for _ in 0..CALLS {
            let took = by_core(&core).await?;
            // The first round warms both.
            if round > 0 {
                through.push(took);
            }
        }
        for _ in 0..CALLS {
            let took = by_runtime(&runtime).await?;
            if round > 0 {
                bare.push(took);
            }
        }
    }
    core.close().await?;
    let (through, bare) = (Times::new(through), Times::new(bare));
    let row = |id, percent, target| Row {
        against: Some("a bare runtime"),
        ratio: Some(through.percentile(percent) / bare.percentile(percent)),
        target,
        spread: (percent == 50).then(|| through.spread()),
        ..Row::new(id, through.percentile(percent), "ms", through.count())
    };
    Ok(vec![
        row("core.call", 50, Some(Target::RatioAtMost(1.5))),
        row("core.call.p10", 10, None),
        row("core.call.p99", 99, None),
    ])
}

async fn by_core(core: &Core) -> Result<f64, Failure> {
    let started = Instant::now();
    let action = Action::ToolCall {
        tool: "answer".to_owned(),
        arguments: Map::new(),
        correlation: None,
        workspace: None,
    };
    let reply = perform(core, action).await?;
    let took = milliseconds(started.elapsed());
    match reply {
        Reply::Called(report) if report.value() == &json!(42) => Ok(took),
        other => {
            Err(Failure::Measure { what: "a call", source: std::io::Error::other(format!("{other:?}")) })
        }
    }
}

async fn by_runtime(runtime: &Runtime) -> Result<f64, Failure> {
    let started = Instant::now();
    let report = runtime.run(Call::body(CODE)).await?;
    let took = milliseconds(started.elapsed());
    if report.value() == &json!(42) {
        return Ok(took);
    }
    let source = std::io::Error::other(format!("{:?}", report.failure()));
    Err(Failure::Measure { what: "a call", source })
}
