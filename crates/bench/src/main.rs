//! `bailiwick-bench`: the published figures, each measured beside what it is compared with, in the same run.
//!
//! Figures of the library are measured in this process; figures of the program start it. A figure that misses its target is printed as
//! missed. Nothing here asserts: tests never do on time. Start reading at [`row`]; nothing depends on this crate.

mod audit_log;
mod calls;
mod cold;
mod core_call;
mod data_directory;
mod egress;
mod failure;
mod fetch;
mod kill;
mod large_store;
mod load;
mod machine;
mod mcp;
mod memory;
mod peers;
mod program;
mod render;
mod row;
mod running_server;
mod sandboxes;
mod server;
mod turns;
mod walls;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use failure::Failure;
use row::Row;
use turns::{FEW_TURNS, Programs};

/// In a cell, memory that cannot be had has an exit code of its own.
#[global_allocator]
static MEMORY: bailiwick::Telling = bailiwick::Telling;

/// The figures of Bailiwick, measured here, each beside what it is compared with.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The program to measure [default: `bailiwick` beside this one]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// An older build of the program: rows that start the program measure both in turns, and show their ratio
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,
    /// Only rows whose id begins with this, for example cell.call
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    only: Option<String>,
    /// A directory of peers that `make bench-peers` has filled, to be measured beside
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// Set a key of the settings for the rows wall.*, for example sandbox.backends
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What the ids of rows begin with.
const KNOWN: &[&str] = &[
    "cell.call",
    "cell.memory",
    "cell.kill",
    "program",
    "jsrun.cold",
    "fetch",
    "core.call",
    "server",
    "http",
    "mcp",
    "sandbox.process",
    "sandbox.pool",
    "sandbox.peer",
    "sandbox.exec",
    "egress",
    "wall",
    "audit.append",
    "audit.verify",
    "store.start",
    "tool.list",
    "peer",
    "fork",
];

/// The groups of rows that start the program.
const OF_THE_PROGRAM: &[&str] =
    &["program", "jsrun.cold", "server", "http", "mcp", "sandbox.exec", "store.start"];

fn main() -> ExitCode {
    bailiwick::enter();
    bailiwick_backends::enter();
    let arguments = Arguments::parse();
    match measure(&arguments) {
        Ok(rows) => {
            render::figures(&rows, arguments.json);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            render::failure(&failure);
            ExitCode::FAILURE
        }
    }
}

/// Checks the prefix of ids that was typed.
fn prefix(only: &str) -> Result<String, String> {
    if KNOWN.iter().any(|id| id.starts_with(only) || only.starts_with(id)) {
        return Ok(only.to_owned());
    }
    Err(format!("figures begin with {}", KNOWN.join(", ")))
}

/// Measures every row that is asked for.
fn measure(what: &Arguments) -> Result<Vec<Row>, Failure> {
    let programs = programs(what)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut p50 = None;
    if asks(what, &["cell.call", "peer", "fork"]) {
        render::progress("calls in cells, one after the other and many at once");
        let measured = block_on(calls::calls(&calls::bare_fork()?))?;
        p50 = Some(measured.p50_ms);
        rows.extend(measured.rows);
    }
    if asks(what, &["program"]) {
        rows.extend(block_on(programs.in_turns((1, 1), async |program| program::size(program)))?);
    }
    if asks(what, &["cell.memory"]) {
        render::progress("memory of parked cells, 5 000 at once");
        rows.extend(block_on(memory::memory())?);
    }
    // The bare fork is measured anew beside each: the machine may be busier by then.
    if asks(what, &["jsrun.cold"]) {
        render::progress("jsrun, from exec to exit");
        let bare = calls::bare_fork()?;
        rows.extend(block_on(programs.in_turns(cold::RUNS, async |program| cold::jsrun(program, &bare)))?);
    }
    if asks(what, &["cell.kill"]) {
        render::progress("200 programs that do not want to end");
        rows.push(block_on(kill::kill(&calls::bare_fork()?))?);
    }
    if asks(what, &["fetch"]) {
        render::progress("requests on loopback, from a cell and by a plain client");
        rows.extend(block_on(fetch::fetch())?);
    }
    if asks(what, &["core.call"]) {
        render::progress("calls of a published tool, through the core and by a bare runtime");
        rows.extend(block_on(core_call::core_call())?);
    }
    if asks(what, &["server"]) {
        render::progress("the start of a server, and its memory while it idles");
        rows.extend(block_on(programs.in_turns(server::STARTS, server::idle))?);
    }
    if asks(what, &["http"]) {
        render::progress("calls over HTTP: 64 clients for 30 seconds, a slow tool beside, too many at once");
        rows.extend(block_on(programs.in_turns(FEW_TURNS, server::busy))?);
    }
    if asks(what, &["mcp"]) {
        render::progress(
            "calls over MCP: 64 at once, 4 at once, and beside a FastMCP server where there is one",
        );
        rows.extend(block_on(mcp::mcp(&programs, what.peers.as_deref()))?);
    }
    if asks(what, &["sandbox.process", "sandbox.pool", "sandbox.peer"]) {
        render::progress("command sandboxes: from start to end, from a pool, and 500 at once");
        rows.extend(block_on(sandboxes::sandboxes())?);
    }
    if asks(what, &["sandbox.exec"]) {
        render::progress("exec of a command that does nothing, from exec to exit");
        rows.extend(block_on(programs.in_turns(sandboxes::EXECS, async |program| sandboxes::exec(program)))?);
    }
    if asks(what, &["egress"]) {
        render::progress(
            "the way out of a sandbox: what comes through, a thousand tunnels, a hundred thousand requests",
        );
        rows.extend(block_on(egress::egress())?);
    }
    if asks(what, &["wall"]) {
        render::progress("every backend that is listed: a start, a command, a lease, and what one weighs");
        rows.extend(block_on(walls::walls(&what.set))?);
    }
    if asks(what, &["audit.append"]) {
        render::progress("appending to the audit log, and bare writes");
        rows.extend(block_on(audit_log::append())?);
    }
    rows.extend(block_on(at_size(what, &programs))?);
    if let (Some(directory), Some(p50)) = (&what.peers, p50) {
        render::progress("peers");
        rows.extend(peers::peers(directory, p50));
    }
    if let Some(only) = &what.only {
        rows.retain(|row| row.id.starts_with(only));
    }
    Ok(rows)
}

/// The rows that need a store with much in it. It is made once for all of them, no larger than what is asked for needs.
async fn at_size(what: &Arguments, programs: &Programs) -> Result<Vec<Row>, Failure> {
    let (starts, lists, proves) =
        (asks(what, &["store.start"]), asks(what, &["tool.list"]), asks(what, &["audit.verify"]));
    let mut rows = Vec::new();
    if !(starts || lists || proves) {
        return Ok(rows);
    }
    let directory = data_directory::DataDirectory::new()?;
    let records = match (starts, proves) {
        (true, _) => large_store::RECORDS,
        (false, true) => audit_log::RECORDS,
        (false, false) => 0,
    };
    directory
        .fill_records(records, |done| {
            if done % (records / 10) == 0 {
                render::progress(&format!("a large store: {done} of {records} records are there"));
            }
        })
        .await?;
    if starts || lists {
        let tools = large_store::TOOLS;
        let progress = |done| render::progress(&format!("a large store: {done} of {tools} tools are there"));
        directory.fill_tools(tools, progress).await?;
    }
    if proves {
        render::progress("the proof of the chain");
        rows.push(audit_log::verify(&directory, records).await?);
    }
    if starts {
        render::progress("the start of the program, on a large and on a small store");
        rows.extend(large_store::start(programs, &directory).await?);
    }
    if lists {
        render::progress("a list of all tools, and a directory of as many documents");
        rows.push(large_store::list(&directory).await?);
    }
    Ok(rows)
}

/// The programs to measure. They are looked for before anything is measured, where a row needs them.
fn programs(what: &Arguments) -> Result<Programs, Failure> {
    let own = std::env::current_exe().map_err(Failure::OwnPath)?;
    let measured = what.program.clone().unwrap_or_else(|| own.with_file_name("bailiwick"));
    if asks(what, OF_THE_PROGRAM) || what.beside.is_some() {
        let mut all = [Some(&measured), what.beside.as_ref()].into_iter().flatten();
        if let Some(missing) = all.find(|program| !program.is_file()) {
            return Err(Failure::NoProgram(missing.clone()));
        }
    }
    if let Some(old) = &what.beside {
        return Programs::in_copies(&measured, old)
            .map_err(|source| Failure::Measure { what: "two programs", source });
    }
    // A name without a slash would be looked for in PATH.
    std::path::absolute(measured).map(Programs::alone).map_err(Failure::OwnPath)
}

/// Whether one of these groups of figures is asked for.
fn asks(what: &Arguments, groups: &[&str]) -> bool {
    let only = what.only.as_deref();
    groups.iter().any(|group| only.is_none_or(|only| group.starts_with(only) || only.starts_with(group)))
}

/// Runs a measurement on a runtime of one thread.
fn block_on<T>(job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Tokio)?;
    let result = tokio.block_on(job);
    // A zygote that is being started in the background is not waited for.
    tokio.shutdown_background();
    result
}
