//! Appending to the audit log, beside writing the same bytes to a file; and how fast its chain is verified.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use bailiwick_audit::{Verdict, record_line};
use bailiwick_core::Refusal;
use bailiwick_store::{Durability, Query, Store};

use crate::calls::milliseconds;
use crate::data_directory::{DataDirectory, entry};
use crate::failure::Failure;
use crate::row::{Row, Target, Times};

/// Rounds in which record and file take turns.
const ROUNDS: u64 = 7;
/// Who appends at once.
const TASKS: u64 = 16;
/// Appends of one of them in a round.
const APPENDS: u64 = 500;
/// Appends that wait for the disk, in a round.
const SAFE: u64 = 30;
/// Records of the chain that is proven, where no larger one is there.
pub(crate) const RECORDS: u64 = 200_000;

/// The rows about appending.
pub(crate) async fn append() -> Result<Vec<Row>, Failure> {
    let directory = DataDirectory::new()?;
    let store = directory.store()?;
    let line = line(&store).await?;
    let mut file = made(&directory)?;
    let (mut rates, mut bare_rates, mut safe, mut bare_safe) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let rate = many(&store, round).await?;
        let bare_rate = many_bare(&mut file, &line)?;
        let (mut waited, mut bare_waited) = (Vec::new(), Vec::new());
        for number in 0..SAFE {
            waited.push(one_safe(&store, number).await?);
            bare_waited.push(one_safe_bare(&mut file, &line)?);
        }
        // The first round warms all of them.
        if round > 0 {
            rates.push(rate);
            bare_rates.push(bare_rate);
            safe.append(&mut waited);
            bare_safe.append(&mut bare_waited);
        }
    }
    store.close().await.map_err(Refusal::from)?;
    let (rates, bare_rates) = (Times::new(rates), Times::new(bare_rates));
    let (safe, bare_safe) = (Times::new(safe), Times::new(bare_safe));
    Ok(vec![
        Row {
            against: Some("write(2) of the same bytes"),
            ratio: Some(rates.median() / bare_rates.median()),
            ..Row::of_times("audit.append", &rates, "/s")
        },
        Row {
            against: Some("write + fdatasync"),
            ratio: Some(safe.median() / bare_safe.median()),
            target: Some(Target::RatioAtMost(3.0)),
            ..Row::of_times("audit.append.safe", &safe, "ms")
        },
    ])
}

/// The row about proving a chain of so many records.
pub(crate) async fn verify(directory: &DataDirectory, records: u64) -> Result<Row, Failure> {
    let store = directory.store()?;
    let started = Instant::now();
    let verdict = store.verify(|_| {}).await.map_err(Refusal::from)?;
    let took = started.elapsed();
    store.close().await.map_err(Refusal::from)?;
    match verdict {
        Verdict::Proven { to, unsigned, .. } if to.saturating_add(unsigned) >= records => {}
        other => {
            let source = std::io::Error::other(other.to_string());
            return Err(Failure::Measure { what: "the proof of a chain", source });
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let value = records as f64 / took.as_secs_f64();
    let samples = usize::try_from(records).unwrap_or(usize::MAX);
    Ok(Row::new("audit.verify", value, "/s", samples))
}

/// A record as it is written to a file.
async fn line(store: &Store) -> Result<Vec<u8>, Failure> {
    one_safe(store, 0).await?;
    let query = Query { limit: 1, newest_first: true, ..Query::default() };
    let found = store.read(move |view| view.records(&query)).await.map_err(Refusal::from)?;
    let lines = found.iter().map(|record| format!("{}\n", record_line(&record.body, &record.hash)));
    Ok(lines.collect::<String>().into_bytes())
}

/// Appends a second by many at once.
async fn many(store: &Store, round: u64) -> Result<f64, Failure> {
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let store = store.clone();
        let first = (round * TASKS + task) * APPENDS;
        tasks.spawn(async move {
            for number in first..first + APPENDS {
                let written = store.write(Durability::Process, move |tx| tx.append(&entry(number)));
                written.await.map_err(Refusal::from)?;
            }
            Ok::<(), Refusal>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|error| Failure::Tokio(std::io::Error::other(error)))??;
    }
    Ok(rate(started))
}

fn many_bare(file: &mut File, line: &[u8]) -> Result<f64, Failure> {
    let started = Instant::now();
    for _ in 0..TASKS * APPENDS {
        file.write_all(line).map_err(bare)?;
    }
    Ok(rate(started))
}

fn rate(started: Instant) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let count = (TASKS * APPENDS) as f64;
    count / started.elapsed().as_secs_f64()
}

async fn one_safe(store: &Store, number: u64) -> Result<f64, Failure> {
    let started = Instant::now();
    let written = store.write(Durability::Machine, move |tx| tx.append(&entry(number)));
    written.await.map_err(Refusal::from)?;
    Ok(milliseconds(started.elapsed()))
}

fn one_safe_bare(file: &mut File, line: &[u8]) -> Result<f64, Failure> {
    let started = Instant::now();
    file.write_all(line).and_then(|()| file.sync_data()).map_err(bare)?;
    Ok(milliseconds(started.elapsed()))
}

fn made(directory: &DataDirectory) -> Result<File, Failure> {
    let options = std::fs::OpenOptions::new().append(true).create(true).clone();
    options.open(directory.beside("bare")).map_err(bare)
}

const fn bare(source: std::io::Error) -> Failure {
    Failure::Measure { what: "a bare write", source }
}
