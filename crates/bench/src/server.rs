//! The server under load: many clients at once, a slow tool beside fast ones, ten times more than it takes, and what it
//! costs while it idles.

use std::path::Path;
use std::time::Duration;

use bailiwick::Runtime;
use bailiwick_core::{Action, Document, Reasons};

use crate::data_directory::{DataDirectory, perform};
use crate::failure::Failure;
use crate::load::{LoadResult, Request, load};
use crate::row::{Row, Target};
use crate::running_server::RunningServer;

/// Clients at once.
const CLIENTS: usize = 64;
/// For how long they ask.
const LASTS: Duration = Duration::from_secs(30);
/// For how long one part of a comparison lasts.
const PART: Duration = Duration::from_secs(5);
/// Starts of the program alone, and in turns with another.
pub(crate) const STARTS: (usize, usize) = (7, 15);
/// Calls that the server takes at once in the run that asks for ten times as many: fewer clients than it has connections for
/// where a process may have 1024 descriptors, of which it uses half.
const ROOM: usize = 40;
/// Clients of the slow tool.
const SLOW: usize = 16;

const TOOLS: [&str; 2] = [
    "name: answer\ndescription: Gives the answer.\ntests: [{input: {}, equals: 42}]\ncode: return 40+2\n",
    "name: slow\ndescription: Waits for a while.\noverrides: {addAllow: [timers], removeDeny: [timers]}\n\
     tests: [{input: {}, equals: 7}]\ncode: |\n  await new Promise((done) => setTimeout(done, 400));\n  return 7;\n",
];

/// The rows about one server that idles, on an empty store.
pub(crate) async fn idle(program: &Path) -> Result<Vec<Row>, Failure> {
    let directory = DataDirectory::new()?;
    let server = RunningServer::start(program, &directory, &[]).await?;
    // Whatever it still makes ready is there by then.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let tree = server.tree_mib().map(|tree| Row::new("server.memory.tree", tree, "MiB", 1));
    let rows = [
        Row { target: Some(Target::AtMost(150.0)), ..Row::new("server.start", server.began_ms, "ms", 1) },
        Row {
            target: Some(Target::AtMost(40.0)),
            ..Row::new("server.memory", server.resident_mib()?, "MiB", 1)
        },
    ];
    Ok(rows.into_iter().chain(tree).collect())
}

/// The rows about a server that many ask.
pub(crate) async fn busy(program: &Path) -> Result<Vec<Row>, Failure> {
    let directory = published().await?;
    let mut rows = many(program, &directory).await?;
    rows.extend(as_shipped(program, &directory).await?);
    rows.extend(too_many(program, &directory).await?);
    Ok(rows)
}

/// A data directory with published tools to call.
pub(crate) async fn published() -> Result<DataDirectory, Failure> {
    let directory = DataDirectory::new()?;
    let core = directory.core(Runtime::builder()).await?;
    for text in TOOLS {
        let document = Document { name: "bench.tool.yaml".to_owned(), text: text.to_owned() };
        let action =
            Action::ToolPublishDocument { document, reasons: Reasons::default(), approval_off: false };
        perform(&core, action).await?;
    }
    core.close().await?;
    Ok(directory)
}

/// 64 clients, alone and beside a slow tool.
async fn many(program: &Path, directory: &DataDirectory) -> Result<Vec<Row>, Failure> {
    let server = RunningServer::start(program, directory, &["server.perSecond=1000000"]).await?;
    let address = server.address;
    let (fast, slow) = (Request::call(address, "answer", 42), Request::call(address, "slow", 7));
    answered(load(address, &fast, CLIENTS, Duration::from_secs(2)).await)?;
    let all = answered(load(address, &fast, CLIENTS, LASTS).await)?;
    let alone = answered(load(address, &fast, 4, PART).await)?;
    let (beside, slowly) = tokio::join!(load(address, &fast, 4, PART), load(address, &slow, SLOW, PART));
    let (beside, slowly) = (answered(beside)?, answered(slowly)?);
    Ok(vec![
        Row::new("http.calls", all.rate(), "/s", all.fine.count()),
        Row::new("http.calls.p50", all.fine.median(), "ms", all.fine.count()),
        Row::new("http.calls.p99", all.fine.percentile(99), "ms", all.fine.count()),
        Row::wrong("http.calls.wrong", all.wrong + all.busy.count()),
        Row::new("http.few.p50", alone.fine.median(), "ms", alone.fine.count()),
        Row::new("http.few.p99", alone.fine.percentile(99), "ms", alone.fine.count()),
        Row {
            against: Some("the same without a slow tool"),
            ratio: Some(beside.fine.median() / alone.fine.median()),
            target: Some(Target::RatioAtMost(1.5)),
            ..Row::new("http.beside-slow.p50", beside.fine.median(), "ms", beside.fine.count())
        },
        Row::new("http.slow.p50", slowly.fine.median(), "ms", slowly.fine.count()),
        Row::wrong("http.slow.wrong", slowly.wrong + slowly.busy.count()),
    ])
}

/// 64 clients again, of one caller, under the rates that ship.
async fn as_shipped(program: &Path, directory: &DataDirectory) -> Result<Vec<Row>, Failure> {
    let server = RunningServer::start(program, directory, &[]).await?;
    let fast = Request::call(server.address, "answer", 42);
    let result = answered(load(server.address, &fast, CLIENTS, PART).await)?;
    Ok(vec![
        Row::new("http.shipped.calls", result.rate(), "/s", result.fine.count()),
        Row::wrong("http.shipped.wrong", result.wrong + result.busy.count()),
    ])
}

/// Ten times as many as it has room for, and what is left of that afterwards.
async fn too_many(program: &Path, directory: &DataDirectory) -> Result<Vec<Row>, Failure> {
    let room = format!("server.calls={ROOM}");
    let settings = ["server.perSecond=1000000", "server.atOnce=100000", &room];
    let server = RunningServer::start(program, directory, &settings).await?;
    let address = server.address;
    let fast = Request::call(address, "answer", 42);
    let slow = Request::call(address, "slow", 7);
    let before = answered(load(address, &fast, 4, PART).await)?;
    let resident_before = server.resident_mib()?;
    let crowd = 10 * ROOM;
    let (over, resident_most) = server.most_resident_while(load(address, &slow, crowd, PART)).await?;
    let over = answered(over)?;
    let resident_after = server.resident_mib()?;
    let again = answered(load(address, &fast, 4, Duration::from_secs(1)).await)?;
    Ok(vec![
        Row::new("http.over.busy", over.rate_of_busy(), "/s", over.busy.count()),
        Row::new("http.over.busy.p50", over.busy.median(), "ms", over.busy.count()),
        Row::new("http.over.busy.p99", over.busy.percentile(99), "ms", over.busy.count()),
        Row::wrong("http.over.wrong", over.wrong),
        Row {
            against: Some("before"),
            ratio: Some(resident_most / resident_before),
            ..Row::new("http.over.memory.most", resident_most, "MiB", 1)
        },
        Row {
            against: Some("before"),
            ratio: Some(resident_after / resident_before),
            target: Some(Target::RatioAtMost(1.5)),
            ..Row::new("http.over.memory", resident_after, "MiB", 1)
        },
        Row {
            against: Some("before"),
            ratio: Some(again.fine.median() / before.fine.median()),
            target: Some(Target::RatioAtMost(1.5)),
            ..Row::new("http.recovered.p50", again.fine.median(), "ms", again.fine.count())
        },
    ])
}

/// The result of a load, or an error where no call was answered.
pub(crate) fn answered(result: std::io::Result<LoadResult>) -> Result<LoadResult, Failure> {
    let failed = |source| Failure::Measure { what: "calls of a server", source };
    let result = result.map_err(failed)?;
    if result.fine.count() == 0 && result.busy.count() == 0 {
        let example = result.example.unwrap_or_default();
        return Err(failed(std::io::Error::other(format!("none was answered: {example}"))));
    }
    Ok(result)
}
