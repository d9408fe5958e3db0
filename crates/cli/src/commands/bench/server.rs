//! The server under load: many clients at once, a slow tool beside fast ones, ten times more than it takes, and what it
//! costs while nobody asks.

use std::time::Duration;

use bailiwick::Runtime;
use bailiwick_core::{Action, Document, Reasons};

use super::ground::{Ground, perform};
use super::load::{Got, Wish, load};
use super::row::{Row, Target, Times};
use super::serving::Serving;
use crate::failure::Failure;

/// Clients at once.
const CLIENTS: usize = 64;
/// For how long they ask.
const LASTS: Duration = Duration::from_secs(30);
/// For how long one part of a comparison lasts.
const PART: Duration = Duration::from_secs(5);
/// Starts that are measured.
const STARTS: usize = 7;
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

/// The rows about a server that idles.
pub(super) async fn idle() -> Result<Vec<Row>, Failure> {
    let (mut starts, mut resident, mut trees) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        // Each on an empty store.
        let ground = Ground::new()?;
        let serving = Serving::start(&ground, &[]).await?;
        starts.push(serving.began_ms);
        // Whatever it still makes ready is there by then.
        tokio::time::sleep(Duration::from_secs(1)).await;
        resident.push(serving.resident_mib()?);
        trees.extend(serving.tree_mib());
    }
    let row = |id, times: &Times, unit, target: Option<Target>| Row {
        id,
        value: times.median(),
        unit,
        against: None,
        ratio: None,
        target,
        spread: Some(times.spread()),
        samples: times.count(),
    };
    let mut rows = vec![
        row("server.start", &Times::new(starts), "ms", Some(Target::AtMost(150.0))),
        row("server.memory", &Times::new(resident), "MiB", Some(Target::AtMost(40.0))),
    ];
    if !trees.is_empty() {
        rows.push(row("server.memory.tree", &Times::new(trees), "MiB", None));
    }
    Ok(rows)
}

/// The rows about a server that many ask.
pub(super) async fn busy() -> Result<Vec<Row>, Failure> {
    let ground = published().await?;
    let mut rows = many(&ground).await?;
    rows.extend(as_shipped(&ground).await?);
    rows.extend(too_many(&ground).await?);
    Ok(rows)
}

/// A data folder with tools to call.
pub(super) async fn published() -> Result<Ground, Failure> {
    let ground = Ground::new()?;
    let core = ground.core(Runtime::builder()).await?;
    for text in TOOLS {
        let document = Document { name: "bench.tool.yaml".to_owned(), text: text.to_owned() };
        let action =
            Action::ToolPublishDocument { document, reasons: Reasons::default(), approval_off: false };
        perform(&core, action).await?;
    }
    core.close().await?;
    Ok(ground)
}

/// 64 clients, alone and beside a slow tool.
async fn many(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let serving = Serving::start(ground, &["server.perSecond=1000000"]).await?;
    let address = serving.address;
    let (fast, slow) = (Wish::call(address, "answer", 42), Wish::call(address, "slow", 7));
    told(load(address, &fast, CLIENTS, Duration::from_secs(2)).await)?;
    let all = told(load(address, &fast, CLIENTS, LASTS).await)?;
    let alone = told(load(address, &fast, 4, PART).await)?;
    let (beside, slowly) = tokio::join!(load(address, &fast, 4, PART), load(address, &slow, SLOW, PART));
    let (beside, slowly) = (told(beside)?, told(slowly)?);
    Ok(vec![
        figure("http.calls", all.rate(), "/s", all.fine.count()),
        figure("http.calls.p50", all.fine.median(), "ms", all.fine.count()),
        figure("http.calls.p99", all.fine.percentile(99), "ms", all.fine.count()),
        count("http.calls.wrong", all.wrong + all.busy.count()),
        figure("http.few.p50", alone.fine.median(), "ms", alone.fine.count()),
        figure("http.few.p99", alone.fine.percentile(99), "ms", alone.fine.count()),
        Row {
            against: Some("the same without a slow tool"),
            ratio: Some(beside.fine.median() / alone.fine.median()),
            target: Some(Target::RatioAtMost(1.5)),
            ..figure("http.beside-slow.p50", beside.fine.median(), "ms", beside.fine.count())
        },
        figure("http.slow.p50", slowly.fine.median(), "ms", slowly.fine.count()),
        count("http.slow.wrong", slowly.wrong + slowly.busy.count()),
    ])
}

/// 64 clients again, of one caller, under the rates that ship.
async fn as_shipped(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let serving = Serving::start(ground, &[]).await?;
    let fast = Wish::call(serving.address, "answer", 42);
    let got = told(load(serving.address, &fast, CLIENTS, PART).await)?;
    Ok(vec![
        figure("http.shipped.calls", got.rate(), "/s", got.fine.count()),
        count("http.shipped.wrong", got.wrong + got.busy.count()),
    ])
}

/// Ten times as many as it has room for, and what is left of that afterwards.
async fn too_many(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let room = format!("server.calls={ROOM}");
    let settings = ["server.perSecond=1000000", "server.atOnce=100000", &room];
    let serving = Serving::start(ground, &settings).await?;
    let address = serving.address;
    let fast = Wish::call(address, "answer", 42);
    let slow = Wish::call(address, "slow", 7);
    let before = told(load(address, &fast, 4, PART).await)?;
    let resident_before = serving.resident_mib()?;
    let crowd = 10 * ROOM;
    let (over, resident_most) = serving.most_resident_while(load(address, &slow, crowd, PART)).await?;
    let over = told(over)?;
    let resident_after = serving.resident_mib()?;
    let again = told(load(address, &fast, 4, Duration::from_secs(1)).await)?;
    Ok(vec![
        figure("http.over.busy", over.rate_of_busy(), "/s", over.busy.count()),
        figure("http.over.busy.p50", over.busy.median(), "ms", over.busy.count()),
        figure("http.over.busy.p99", over.busy.percentile(99), "ms", over.busy.count()),
        count("http.over.wrong", over.wrong),
        Row {
            against: Some("before"),
            ratio: Some(resident_most / resident_before),
            ..figure("http.over.memory.most", resident_most, "MiB", 1)
        },
        Row {
            against: Some("before"),
            ratio: Some(resident_after / resident_before),
            target: Some(Target::RatioAtMost(1.5)),
            ..figure("http.over.memory", resident_after, "MiB", 1)
        },
        Row {
            against: Some("before"),
            ratio: Some(again.fine.median() / before.fine.median()),
            target: Some(Target::RatioAtMost(1.5)),
            ..figure("http.recovered.p50", again.fine.median(), "ms", again.fine.count())
        },
    ])
}

pub(super) fn told(got: std::io::Result<Got>) -> Result<Got, Failure> {
    let failed = |source| Failure::Measure { what: "calls of a server", source };
    let got = got.map_err(failed)?;
    if got.fine.count() == 0 && got.busy.count() == 0 {
        let example = got.example.unwrap_or_default();
        return Err(failed(std::io::Error::other(format!("none was answered: {example}"))));
    }
    Ok(got)
}

pub(super) fn figure(id: &'static str, value: f64, unit: &'static str, samples: usize) -> Row {
    Row { id, value, unit, against: None, ratio: None, target: None, spread: None, samples }
}

/// A number that should be zero.
#[expect(clippy::cast_precision_loss, reason = "a figure to read")]
pub(super) fn count(id: &'static str, value: usize) -> Row {
    Row { target: Some(Target::AtMost(0.0)), ..figure(id, value as f64, "answers", value) }
}
