//! A program with parked cells that stands still until its stdin closes, so that another process can look at it: a
//! process that cannot be traced shows itself to root only.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bailiwick::Call;
use bailiwick::types::{Receipt, WallStatus};
use serde_json::{Value, json};

use crate::processes;
use crate::stage::{PATIENCE, block_on, comes_true, few, gives};
use crate::walls::is_walled_in;

/// What such a program says of itself.
#[derive(Debug)]
pub(crate) struct Standing {
    process: Child,
    /// Its number.
    pub(crate) pid: u32,
    /// The receipt of its calls.
    pub(crate) receipt: Receipt,
}

/// Makes a few calls, says which walls stood, and waits until stdin closes.
pub(crate) fn role() {
    block_on(async {
        let runtime = few().parked(3).build().await.expect("cells");
        gives(&runtime, Call::body("return a + b").argument("a", 40).argument("b", 2), json!(42)).await;
        gives(&runtime, Call::body("const x: number = 1; console.log(x); return x"), json!(1)).await;
        let report = runtime.run(Call::body("return 'x'.repeat(100)")).await.expect("a report");
        assert!(comes_true(|| runtime.count(&bailiwick::Tenant::default()).0 >= 2).await, "no parked cells");
        crate::output::line(json!({"pid": std::process::id(), "receipt": report.receipt()}));
        let mut rest = Vec::new();
        std::io::stdin().read_to_end(&mut rest).expect("stdin");
    });
}

impl Standing {
    /// Starts it and waits until it stands.
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Self {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut process = spawned.expect("it starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().expect("its stdout"));
        stdout.read_line(&mut line).expect("its word");
        if !line.starts_with('{') {
            let output = process.wait_with_output().expect("its end");
            panic!("{command:?} said {line:?}, then\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let mut said: Value = serde_json::from_str(&line).expect("JSON");
        let pid = said["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a pid");
        let receipt = serde_json::from_value(said["receipt"].take()).expect("a receipt");
        Self { process, pid, receipt }
    }

    /// Its nurseries.
    pub(crate) fn nurseries(&self) -> Vec<u32> {
        processes::children(self.pid).into_iter().map(|process| process.pid).collect()
    }

    /// Its cells, parked all of them.
    pub(crate) fn cells(&self) -> Vec<u32> {
        let nurseries = self.nurseries().into_iter();
        nurseries.flat_map(processes::children).map(|process| process.pid).collect()
    }

    /// Its one nursery, and its cells as soon as they have walled themselves in: the host hears of a cell a moment
    /// before that, and the cell hears nothing before.
    #[track_caller]
    pub(crate) fn walled_in(&self) -> (u32, Vec<u32>) {
        let (nurseries, cells) = (self.nurseries(), self.cells());
        assert!(nurseries.len() == 1 && cells.len() >= 2, "{nurseries:?} {cells:?}");
        let deadline = Instant::now() + PATIENCE;
        while !cells.iter().all(|cell| is_walled_in(nurseries[0], *cell)) {
            assert!(Instant::now() < deadline, "{cells:?} are not walled in");
            std::thread::sleep(Duration::from_millis(5));
        }
        (nurseries[0], cells)
    }

    /// The status of one demand, and what is said to hold it.
    #[track_caller]
    pub(crate) fn wall(&self, demand: &str) -> (WallStatus, &str) {
        let wall = self.receipt.walls.iter().find(|wall| wall.demand == demand);
        let wall = wall.unwrap_or_else(|| panic!("no `{demand}` in {:?}", self.receipt));
        (wall.status, &wall.mechanism)
    }

    /// Kills it without a chance to tidy up.
    pub(crate) fn kill(mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it ends");
    }

    /// Lets it end, which it has to do well.
    #[track_caller]
    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        let output = self.process.wait_with_output().expect("its end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
