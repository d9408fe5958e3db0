//! A store with much in it: how long the program takes to start on it, and how fast its tools are listed.

use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use bailiwick::Runtime;
use bailiwick_core::{Action, Reply};

use super::calls::milliseconds;
use super::cold::time;
use super::ground::{Ground, document, name, perform};
use super::row::{Row, Target, Times};
use crate::failure::Failure;

/// Tools of the large store.
pub(super) const TOOLS: u32 = 10_000;
/// Records of the large store.
pub(super) const RECORDS: u64 = 1_000_000;
/// Starts of the program, on each store.
const STARTS: usize = 25;
/// How much longer a start may take than on a store with one tool: by this factor, and by so many milliseconds.
const FACTOR: f64 = 1.2;
const LONGER_MS: f64 = 100.0;
/// Rounds in which the list and the folder take turns.
const ROUNDS: usize = 9;
/// So many are asked for at once.
const PAGE: u32 = 1_000;

/// The row about starting: a tool of each store is shown by name, from exec to exit.
pub(super) async fn start(large: &Ground) -> Result<Row, Failure> {
    let small = Ground::new()?;
    small.fill_tools(1, |_| {}).await?;
    let (mut on_large, mut on_small) = (Vec::new(), Vec::new());
    for round in 0..=STARTS {
        let took = (show(large, TOOLS / 2)?, show(&small, 0)?);
        // The first round warms both.
        if round > 0 {
            on_large.push(took.0);
            on_small.push(took.1);
        }
    }
    let (on_large, on_small) = (Times::new(on_large), Times::new(on_small));
    Ok(Row {
        id: "store.start",
        value: on_large.median(),
        unit: "ms",
        against: Some("a store with one tool"),
        ratio: Some(on_large.median() / on_small.median()),
        target: Some(Target::AtMost((on_small.median() * FACTOR + LONGER_MS).round())),
        spread: Some(on_large.spread()),
        samples: on_large.count(),
    })
}

fn show(ground: &Ground, number: u32) -> Result<f64, Failure> {
    let (data, name) = (ground.data(), name(number));
    let arguments = ["--data", &data.display().to_string(), "tool", "show", &name];
    let times = time(Path::new("/proc/self/exe"), &arguments, "", 1)
        .map_err(|source| Failure::Measure { what: "the start of the program", source })?;
    Ok(times.median())
}

/// The row about listing every tool, beside reading as many documents from a folder.
pub(super) async fn list(large: &Ground) -> Result<Row, Failure> {
    let failed = |source| Failure::Measure { what: "a folder of documents", source };
    let folder = large.beside("documents");
    write_documents(&folder).map_err(failed)?;
    let core = large.core(Runtime::builder().parked(0)).await?;
    let (mut listed, mut read) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let started = Instant::now();
        let mut after = None;
        let mut count = 0;
        loop {
            let reply = perform(&core, Action::ToolList { after: after.take(), limit: PAGE }).await?;
            let Reply::Tools(page) = reply else { return Err(Failure::StrangeReply("tools")) };
            let Some(last) = page.last() else { break };
            count += page.len();
            after = Some(last.name.clone());
        }
        let of_store = milliseconds(started.elapsed());
        let started = Instant::now();
        let in_folder = read_documents(&folder).map_err(failed)?;
        let of_folder = milliseconds(started.elapsed());
        if count != in_folder {
            return Err(failed(std::io::Error::other(format!("{count} tools, {in_folder} documents"))));
        }
        // The first round warms both.
        if round > 0 {
            listed.push(of_store);
            read.push(of_folder);
        }
    }
    core.close().await?;
    let (listed, read) = (Times::new(listed), Times::new(read));
    Ok(Row {
        id: "tool.list",
        value: listed.median(),
        unit: "ms",
        against: Some("reading 10 000 files"),
        ratio: Some(listed.median() / read.median()),
        target: Some(Target::RatioAtMost(1.0)),
        spread: Some(listed.spread()),
        samples: listed.count(),
    })
}

#[expect(clippy::disallowed_methods, reason = "documents in a folder of this figure's own")]
fn write_documents(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir(folder)?;
    (0..TOOLS).map(document).try_for_each(|one| std::fs::write(folder.join(one.name), one.text))
}

/// Reads each file of a folder to its end; gives how many there were.
#[expect(clippy::disallowed_methods, reason = "what a figure is compared with")]
fn read_documents(folder: &Path) -> std::io::Result<usize> {
    let mut count = 0;
    let mut text = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        text.clear();
        std::fs::File::open(entry?.path())?.read_to_end(&mut text)?;
        count += usize::from(!text.is_empty());
    }
    Ok(count)
}
