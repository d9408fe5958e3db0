//! Calls in parked cells: how long one takes, how many a core does, beside a bare fork of the same run.

use std::time::{Duration, Instant};

use bailiwick::{Call, Runtime};
use bailiwick_sys::bare::fork_exit_wait;

use crate::failure::Failure;
use crate::row::{Row, Target, Times};

/// Rounds in which calls and forks take turns, so that both see the same machine.
const ROUNDS: usize = 20;
const CALLS: usize = 100;
const FORKS: usize = 50;

/// How long calls go on for the sustained figure.
const SUSTAINED: Duration = Duration::from_secs(3);

/// Calls under way at once in the sustained figure, per core.
const AT_ONCE: usize = 4;

/// What was measured.
pub(crate) struct Measured {
    pub(crate) rows: Vec<Row>,
    pub(crate) p50_ms: f64,
}

/// A bare fork, exit and wait, before anything else runs.
pub(crate) fn bare_fork() -> Result<Times, Failure> {
    forks(FORKS * 4).map(Times::new)
}

fn forks(count: usize) -> Result<Vec<f64>, Failure> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let started = Instant::now();
        fork_exit_wait()
            .map_err(|failed| Failure::Measure { what: "a bare fork", source: failed.errno.into() })?;
        times.push(milliseconds(started.elapsed()));
    }
    Ok(times)
}

/// The rows about calls.
pub(crate) async fn calls(before: &Times) -> Result<Measured, Failure> {
    let runtime = Runtime::builder().build().await?;
    for _ in 0..CALLS {
        one(&runtime).await?;
    }
    let (mut called, mut forked) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..CALLS {
            called.push(one(&runtime).await?);
        }
        forked.extend(forks(FORKS)?);
    }
    let (called, forked) = (Times::new(called), Times::new(forked));
    let p50_ms = called.median();
    let latency = Row {
        against: Some("fork+exit+wait"),
        ratio: Some(p50_ms / forked.median()),
        target: Some(Target::RatioAtMost(1.2)),
        spread: Some(called.spread()),
        ..Row::new("cell.call.p50", p50_ms, "ms", called.count())
    };
    // Forks between rounds of calls share the machine with our own refills, and are slower for it. So the call is also
    // set against forks of before, which had the machine to themselves.
    let against_quiet = Row {
        against: Some("fork before any cell"),
        ratio: Some(p50_ms / before.median()),
        target: Some(Target::RatioAtMost(1.2)),
        ..Row::new("cell.call.p50.quiet", p50_ms, "ms", called.count())
    };
    let bare = Row {
        against: Some("the same, before any cell"),
        ratio: Some(forked.median() / before.median()),
        ..Row::of_times("fork.p50", &forked, "ms")
    };
    let tail = Row {
        against: Some("fork+exit+wait"),
        ratio: Some(called.percentile(99) / forked.percentile(99)),
        ..Row::new("cell.call.p99", called.percentile(99), "ms", called.count())
    };
    let rate = sustained(&runtime, &forked).await?;
    Ok(Measured { rows: vec![latency, against_quiet, tail, rate, bare], p50_ms })
}

async fn one(runtime: &Runtime) -> Result<f64, Failure> {
    let started = Instant::now();
    let report = runtime.run(Call::body("return 40+2")).await?;
    let took = milliseconds(started.elapsed());
    if report.value() == &serde_json::json!(42) {
        return Ok(took);
    }
    let source = std::io::Error::other(format!("{:?}", report.failure()));
    Err(Failure::Measure { what: "a call", source })
}

async fn sustained(runtime: &Runtime, forked: &Times) -> Result<Row, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let started = Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..AT_ONCE * cores {
        let runtime = runtime.clone();
        callers.spawn(async move {
            let mut done = 0_u32;
            while started.elapsed() < SUSTAINED {
                one(&runtime).await?;
                done += 1;
            }
            Ok::<u32, Failure>(done)
        });
    }
    let mut done = 0;
    while let Some(one) = callers.join_next().await {
        done += one.map_err(|error| Failure::Tokio(std::io::Error::other(error)))??;
    }
    let cores = u32::try_from(cores).unwrap_or(1);
    let rate = f64::from(done) / started.elapsed().as_secs_f64() / f64::from(cores);
    Ok(Row {
        against: Some("forks of one core"),
        ratio: Some(rate / (1000.0 / forked.median())),
        target: Some(Target::AtLeast(1500.0)),
        ..Row::new("cell.call.rate", rate, "/s/core", usize::try_from(done).unwrap_or(usize::MAX))
    })
}

/// A time in milliseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
