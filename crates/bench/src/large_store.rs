//! A store with much in it: how long the program takes to start on it, and how fast its tools are listed.

use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use bailiwick::Runtime;
use bailiwick_core::{Action, Reply};

use crate::calls::milliseconds;
use crate::cold::time;
use crate::data_directory::{DataDirectory, document, name, perform};
use crate::failure::Failure;
use crate::row::{Row, Target, Times};
use crate::turns::{FEW_TURNS, Programs};

/// Tools of the large store.
pub(crate) const TOOLS: u32 = 10_000;
/// Records of the large store.
pub(crate) const RECORDS: u64 = 1_000_000;
/// Starts of the program, on each store.
const STARTS: usize = 25;
/// How much longer a start may take than on a store with one tool: by this factor, and by so many milliseconds.
const FACTOR: f64 = 1.2;
const LONGER_MS: f64 = 100.0;
/// Rounds in which the list and the directory take turns.
const ROUNDS: usize = 9;
/// So many are asked for at once.
const PAGE: u32 = 1_000;

/// The row about starting: a tool of each store is shown by name, from exec to exit.
pub(crate) async fn start(programs: &Programs, large: &DataDirectory) -> Result<Vec<Row>, Failure> {
    let small = DataDirectory::new()?;
    small.fill_tools(1, |_| {}).await?;
    programs.in_turns(FEW_TURNS, async |program| Ok(vec![start_of(program, large, &small)?])).await
}

fn start_of(program: &Path, large: &DataDirectory, small: &DataDirectory) -> Result<Row, Failure> {
    let (mut on_large, mut on_small) = (Vec::new(), Vec::new());
    for round in 0..=STARTS {
        let took = (show(program, large, TOOLS / 2)?, show(program, small, 0)?);
        // The first round warms both.
        if round > 0 {
            on_large.push(took.0);
            on_small.push(took.1);
        }
    }
    let (on_large, on_small) = (Times::new(on_large), Times::new(on_small));
    Ok(Row {
        against: Some("a store with one tool"),
        ratio: Some(on_large.median() / on_small.median()),
        target: Some(Target::AtMost((on_small.median() * FACTOR + LONGER_MS).round())),
        ..Row::of_times("store.start", &on_large, "ms")
    })
}

fn show(program: &Path, directory: &DataDirectory, number: u32) -> Result<f64, Failure> {
    let (data, name) = (directory.path(), name(number));
    let arguments = ["--data", &data.display().to_string(), "tool", "show", &name];
    time(program, &arguments, "")
        .map_err(|source| Failure::Measure { what: "the start of the program", source })
}

/// The row about listing every tool, beside reading as many documents from a directory.
pub(crate) async fn list(large: &DataDirectory) -> Result<Row, Failure> {
    let failed = |source| Failure::Measure { what: "a directory of documents", source };
    let directory = large.beside("documents");
    write_documents(&directory).map_err(failed)?;
    let core = large.core(Runtime::builder().parked(0)).await?;
    let (mut listed, mut read) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let started = Instant::now();
        let mut after = None;
        let mut count = 0;
        loop {
            let reply = perform(&core, Action::ToolList { after: after.take(), limit: PAGE }).await?;
            let Reply::Tools(page) = reply else {
                return Err(failed(std::io::Error::other("no list of tools")));
            };
            let Some(last) = page.last() else { break };
            count += page.len();
            after = Some(last.name.clone());
        }
        let of_store = milliseconds(started.elapsed());
        let started = Instant::now();
        let in_directory = read_documents(&directory).map_err(failed)?;
        let of_directory = milliseconds(started.elapsed());
        if count != in_directory {
            return Err(failed(std::io::Error::other(format!("{count} tools, {in_directory} documents"))));
        }
        // The first round warms both.
        if round > 0 {
            listed.push(of_store);
            read.push(of_directory);
        }
    }
    core.close().await?;
    let (listed, read) = (Times::new(listed), Times::new(read));
    Ok(Row {
        against: Some("reading 10 000 files"),
        ratio: Some(listed.median() / read.median()),
        target: Some(Target::RatioAtMost(1.0)),
        ..Row::of_times("tool.list", &listed, "ms")
    })
}

#[expect(clippy::disallowed_methods, reason = "documents in a directory of this figure's own")]
fn write_documents(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir(directory)?;
    (0..TOOLS).map(document).try_for_each(|one| std::fs::write(directory.join(one.name), one.text))
}

/// Reads each file of a directory to its end; gives how many there were.
#[expect(clippy::disallowed_methods, reason = "what a figure is compared with")]
fn read_documents(directory: &Path) -> std::io::Result<usize> {
    let mut count = 0;
    let mut text = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        text.clear();
        std::fs::File::open(entry?.path())?.read_to_end(&mut text)?;
        count += usize::from(!text.is_empty());
    }
    Ok(count)
}
