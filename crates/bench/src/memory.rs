//! What parked cells weigh: one by one as the kernel counts it, and 5 000 at once.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bailiwick::{Options, Runtime, Tenant};

use crate::failure::Failure;
use crate::machine::read;
use crate::row::{Row, Target, Times};

/// Cells alive at once.
const CELLS: usize = 5_000;

/// How long they may take to be born.
const PATIENCE: Duration = Duration::from_mins(2);

/// Cells that are looked at one by one.
const LOOKED_AT: usize = 50;

/// How deep a tree of processes is at most.
const DEEPEST: usize = 16;

/// The rows.
pub(crate) async fn memory() -> Result<Vec<Row>, Failure> {
    let usual = usual().await?;
    let before = available_mib();
    let runtime = Runtime::builder().parked(CELLS).build().await?;
    let tenant = Tenant::default();
    let started = Instant::now();
    let mut alive = 0;
    while alive < CELLS && started.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(20)).await;
        alive = runtime.count(&tenant).0;
    }
    let taken = before - available_mib();
    let mut rows = vec![Row {
        target: Some(Target::AtMost(1536.0)),
        ..Row::new("cell.memory.5000", taken, "MiB", alive)
    }];
    if alive < CELLS {
        let message = format!("only {alive} of {CELLS} cells were alive after {PATIENCE:?}");
        return Err(Failure::Measure { what: "5 000 cells", source: std::io::Error::other(message) });
    }
    // Without the right to look into cells, which only root has, there are no such figures.
    rows.extend(row("cell.memory.private", &usual));
    rows.extend(row("cell.memory.unrehearsed", &private_kib()));
    Ok(rows)
}

/// The cells of a pool of the usual size, which have rehearsed their call.
async fn usual() -> Result<Times, Failure> {
    let runtime = Runtime::builder().build().await?;
    let wanted = Options::default().parked;
    let started = Instant::now();
    while runtime.count(&Tenant::default()).0 < wanted && started.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // They are counted as parked from their birth; this is long enough for the rehearsal that follows it.
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(private_kib())
}

fn row(id: &'static str, private: &Times) -> Option<Row> {
    (private.count() > 0)
        .then(|| Row { target: Some(Target::AtMost(256.0)), ..Row::of_times(id, private, "KiB") })
}

/// Memory that is available on this machine: what parked cells take of it includes the kernel's share.
pub(crate) fn available_mib() -> f64 {
    let text = read("/proc/meminfo").unwrap_or_default();
    kib_of(&text, "MemAvailable:") / 1024.0
}

/// The resident memory of a process, in MiB.
pub(crate) fn resident_mib(pid: u32) -> std::io::Result<f64> {
    let gone = || std::io::Error::other(format!("process {pid} has no account of its memory"));
    let text = read(&format!("/proc/{pid}/status")).ok_or_else(gone)?;
    Ok(kib_of(&text, "VmRSS:") / 1024.0)
}

/// The memory of a process and of everything below it, in MiB, pages that several of them share counted once. None
/// without the right to look into cells, which only root has: a part of it would be a wrong figure.
pub(crate) fn tree_mib(root: u32) -> Option<f64> {
    let parents = parents();
    let is_below = |pid: &u32| {
        // Only so many steps: a process that ends meanwhile must not send us round.
        let mut above = std::iter::successors(Some(*pid), |pid| parents.get(pid).copied()).take(DEEPEST);
        above.any(|pid| pid == root)
    };
    let mut sum = 0.0;
    for pid in parents.keys().filter(|pid| is_below(pid)) {
        let Some(text) = read(&format!("/proc/{pid}/smaps_rollup")) else {
            // It has ended since, or it may not be looked at.
            if read(&format!("/proc/{pid}/status")).is_some() {
                return None;
            }
            continue;
        };
        sum += kib_of(&text, "Pss:") / 1024.0;
    }
    Some(sum).filter(|sum| *sum > 0.0)
}

fn kib_of(text: &str, field: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(f64::NAN)
}

/// Private dirty memory of cells, by their own accounts in `/proc`.
fn private_kib() -> Times {
    let parents = parents();
    let own = std::process::id();
    let cells = parents.iter().filter(|(_, parent)| parents.get(parent) == Some(&own));
    let sizes = cells.take(LOOKED_AT).filter_map(|(pid, _)| {
        let text = read(&format!("/proc/{pid}/smaps_rollup"))?;
        Some(kib_of(&text, "Private_Dirty:")).filter(|size| size.is_finite())
    });
    Times::new(sizes.collect())
}

/// Every process and its parent.
fn parents() -> BTreeMap<u32, u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    processes
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let status = read(&format!("/proc/{pid}/status"))?;
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
            Some((pid, parent))
        })
        .collect()
}
