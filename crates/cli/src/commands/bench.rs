//! `bailiwick bench`: the published figures, each measured beside what it is compared with, in the same run.
//!
//! A figure that misses its target is printed as missed. Nothing here asserts: tests never do on time.

mod calls;
mod cold;
mod core_call;
mod egress;
mod fetch;
mod ground;
mod kill;
mod load;
mod machine;
mod mcp;
mod memory;
mod peers;
mod record;
mod row;
mod sandboxes;
mod server;
mod serving;
mod size;
mod walls;

use serde_json::json;

use crate::cells::block_on;
use crate::failure::Failure;
use crate::render::{Screen, Span, bad, faint, good, plain, strong};
use crate::resolved::Session;
use crate::typed::Bench;
use row::{Row, Verdict};

/// What the ids of rows begin with.
const KNOWN: &[&str] = &[
    "cell.call",
    "cell.memory",
    "cell.kill",
    "jsrun.cold",
    "fetch",
    "core.call",
    "server",
    "http",
    "mcp",
    "sandbox",
    "egress",
    "wall",
    "audit.append",
    "audit.verify",
    "store.start",
    "tool.list",
    "peer",
    "fork",
];

/// `bailiwick bench`
pub(crate) fn bench(
    screen: &mut Screen,
    session: impl FnOnce(&mut Screen) -> Result<Session, Failure>,
    what: &Bench,
) -> Result<u8, Failure> {
    let wanted = |id: &str| what.only.as_deref().is_none_or(|only| id.starts_with(only));
    let mut rows: Vec<Row> = Vec::new();
    if let Some(only) = what.only.as_deref()
        && !KNOWN.iter().any(|id| id.starts_with(only) || only.starts_with(id))
    {
        return Err(Failure::Argument {
            message: format!("no figure begins with `{only}`"),
            hint: format!("figures begin with {}", KNOWN.join(", ")),
        });
    }
    let mut p50 = None;
    if asks(what, &["cell.call", "peer", "fork"]) {
        screen.progress("calls in cells, one after the other and many at once");
        let measured = block_on(calls::calls(&calls::bare_fork()?))?;
        p50 = Some(measured.p50_ms);
        rows.extend(measured.rows.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["cell.memory"]) {
        screen.progress("memory of parked cells, 5 000 at once");
        rows.extend(block_on(memory::memory())?.into_iter().filter(|row| wanted(row.id)));
    }
    // The bare fork is measured anew beside each: the machine may be another one by then.
    if asks(what, &["jsrun.cold"]) {
        screen.progress("jsrun, from exec to exit");
        rows.push(cold::jsrun(&calls::bare_fork()?)?);
    }
    if asks(what, &["cell.kill"]) {
        screen.progress("200 programs that do not want to end");
        rows.push(block_on(kill::kill(&calls::bare_fork()?))?);
    }
    if asks(what, &["fetch"]) {
        screen.progress("requests on loopback, from a cell and by a plain client");
        rows.extend(block_on(fetch::fetch())?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["core.call"]) {
        screen.progress("calls of a published tool, through the core and by a bare runtime");
        rows.extend(block_on(core_call::core_call())?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["server"]) {
        screen.progress("the start of a server, and its memory while it idles");
        rows.extend(block_on(server::idle())?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["http"]) {
        screen.progress("calls over HTTP: 64 clients for 30 seconds, a slow tool beside, too many at once");
        rows.extend(block_on(server::busy())?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["mcp"]) {
        screen.progress(
            "calls over MCP: 64 at once, 4 at once, and beside a FastMCP server where there is one",
        );
        let measured = block_on(mcp::mcp(what.peers.as_deref()))?;
        rows.extend(measured.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["sandbox"]) {
        screen.progress("command sandboxes: from nothing to nothing, from a pool, and 500 at once");
        rows.extend(block_on(sandboxes::sandboxes())?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["egress"]) {
        screen.progress(
            "the way out of a sandbox: what comes through, a thousand tunnels, a hundred thousand requests",
        );
        rows.extend(block_on(egress::egress())?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["wall"]) {
        screen.progress("every backend that is listed: a start, a command, a lease, and what one weighs");
        let session = session(screen)?;
        rows.extend(block_on(walls::walls(screen, &session))?.into_iter().filter(|row| wanted(row.id)));
    }
    if asks(what, &["audit.append"]) {
        screen.progress("appending to the record, and bare writes");
        rows.extend(block_on(record::append())?.into_iter().filter(|row| wanted(row.id)));
    }
    rows.extend(block_on(at_size(screen, what))?);
    if let (Some(folder), Some(p50)) = (&what.peers, p50) {
        screen.progress("peers");
        rows.extend(peers::peers(folder, p50).into_iter().filter(|row| wanted(row.id)));
    }
    let machine = machine::describe();
    if screen.wants_json() {
        let rows: Vec<_> = rows.iter().map(Row::to_json).collect();
        screen.json(&json!({"machine": machine, "rows": rows}));
        return Ok(0);
    }
    for (name, value) in machine.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        screen.field(name, &[plain(&value)]);
    }
    screen.line(&[]);
    for row in &rows {
        tell(screen, row);
    }
    Ok(0)
}

/// The rows that need a store with much in it. It is made once for all of them, no larger than what is asked for needs.
async fn at_size(screen: &mut Screen, what: &Bench) -> Result<Vec<Row>, Failure> {
    let (starts, lists, proves) =
        (asks(what, &["store.start"]), asks(what, &["tool.list"]), asks(what, &["audit.verify"]));
    let mut rows = Vec::new();
    if !(starts || lists || proves) {
        return Ok(rows);
    }
    let ground = ground::Ground::new()?;
    let records = match (starts, proves) {
        (true, _) => size::RECORDS,
        (false, true) => record::RECORDS,
        (false, false) => 0,
    };
    ground
        .fill_records(records, |done| {
            if done % (records / 10) == 0 {
                screen.progress(&format!("a large store: {done} of {records} records are there"));
            }
        })
        .await?;
    if starts || lists {
        let tools = size::TOOLS;
        let told = |done| screen.progress(&format!("a large store: {done} of {tools} tools are there"));
        ground.fill_tools(tools, told).await?;
    }
    if proves {
        screen.progress("the proof of the chain");
        rows.push(record::verify(&ground, records).await?);
    }
    if starts {
        screen.progress("the start of the program, on a large and on a small store");
        rows.push(size::start(&ground).await?);
    }
    if lists {
        screen.progress("a list of all tools, and a folder of as many documents");
        rows.push(size::list(&ground).await?);
    }
    Ok(rows)
}

/// Whether one of these groups of figures is asked for.
fn asks(what: &Bench, groups: &[&str]) -> bool {
    let only = what.only.as_deref();
    groups.iter().any(|group| only.is_none_or(|only| group.starts_with(only) || only.starts_with(group)))
}

fn tell(screen: &mut Screen, row: &Row) {
    let verdict: Span<'_> = match row.verdict() {
        Verdict::Met => good("met     "),
        Verdict::Missed => bad("missed  "),
        Verdict::None => faint("        "),
    };
    let id = format!("{:<26}", row.id);
    let value = format!("{:>10} {:<8}", row::short(row.value), row.unit);
    let spread = match row.spread {
        Some((low, high)) => format!("{} … {}", row::short(low), row::short(high)),
        None => String::new(),
    };
    let against = match (row.against, row.ratio) {
        (Some(against), Some(ratio)) => format!("{:>6} × {against}", row::short(ratio)),
        _ => String::new(),
    };
    let columns = format!("{spread:<22}{against:<30}{}", row.target_text());
    screen.line(&[verdict, strong(&id), plain(&value), faint(&columns)]);
}
