//! How late the worst of many programs ends that do not want to.

use bailiwick::policy::{Baseline, Layer, LimitRequest, Sourced, resolve};
use bailiwick::types::{LayerName, LimitKind};
use bailiwick::{Call, Runtime};
use std::sync::Arc;

use crate::failure::Failure;
use crate::row::{Row, Target, Times};

/// Each a way to keep a core busy: in the interpreter, in one native call, in a chain of jobs, past a `finally`.
const HOSTILE: &[&str] = &[
    "for(;;){}",
    "try { for(;;){} } finally { for(;;){} }",
    "for(;;){ try { for(;;){} } catch {} }",
    "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    "let b = 3n; for(;;) b = b ** 3n",
    "const a = Array(3e6).fill(0).map((_, i) => -i); for(;;) a.sort(() => 0.5 - Math.random())",
    "for(;;) 'ab'.repeat(1e6).split('')",
    "async function f(){ for(;;) await null } await f()",
    "function f(){ return Promise.resolve().then(f) } await f()",
    "for(;;) JSON.parse('[' + '1,'.repeat(1e5) + '1]')",
];

/// Programs in all.
const PROGRAMS: usize = 200;

/// The deadline of each.
const WALL_MS: u64 = 40;

/// The row.
pub(crate) async fn kill(bare: &Times) -> Result<Row, Failure> {
    let runtime = Runtime::builder().build().await?;
    let mut layer = Layer::empty(LayerName::Tool, "the bench");
    for (kind, value) in [(LimitKind::Wall, WALL_MS), (LimitKind::Steps, kind_most(LimitKind::Steps))] {
        let request = LimitRequest::new(kind, value).map_err(|error| Failure::Measure {
            what: "the end of hostile programs",
            source: std::io::Error::other(error),
        })?;
        layer.set_limit(Sourced::built_in(request, "bench"));
    }
    let policy = Arc::new(resolve(&Arc::new(Baseline::shipped()), None, Some(&Arc::new(layer)))?);
    let mut late = Vec::with_capacity(PROGRAMS);
    for source in HOSTILE.iter().cycle().take(PROGRAMS) {
        let report = runtime.run(Call::body(*source).policy(Arc::clone(&policy))).await?;
        let deadline = f64::from(u32::try_from(WALL_MS).unwrap_or(u32::MAX));
        late.push((report.usage().wall_ms - deadline).max(0.0));
    }
    let late = Times::new(late);
    let worst = late.percentile(100);
    Ok(Row {
        against: Some("fork+exit+wait"),
        ratio: Some(worst / bare.median()),
        target: Some(Target::AtMost(20.0)),
        spread: Some((late.median(), worst)),
        ..Row::new("cell.kill.worst", worst, "ms late", late.count())
    })
}

fn kind_most(kind: LimitKind) -> u64 {
    kind.default_ceiling()
}
