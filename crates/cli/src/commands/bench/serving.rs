//! A server of this very program, for figures: in a data folder of its own, ended when it is dropped.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::calls::milliseconds;
use super::ground::Ground;
use super::load::{Client, Wish};
use crate::failure::Failure;

/// How often its memory is looked at while it works.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A server that runs.
pub(super) struct Serving {
    child: Child,
    pub(super) address: SocketAddr,
    /// From its start to the first request it served, in milliseconds.
    pub(super) began_ms: f64,
}

impl Serving {
    /// Starts one, and waits until it served a request.
    #[expect(clippy::disallowed_methods, reason = "a figure of this program, started by the operator")]
    pub(super) async fn start(ground: &Ground, settings: &[&str]) -> Result<Self, Failure> {
        let failed = |source| Failure::Measure { what: "a server", source };
        let started = Instant::now();
        let mut command = Command::new("/proc/self/exe");
        command.arg("--data").arg(ground.data()).arg("--json");
        for setting in settings {
            command.args(["--set", setting]);
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--preset", "none"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(failed)?;
        }
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let url = said.get("listens").and_then(Value::as_str).unwrap_or_default();
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse();
        let Ok(address) = address else {
            let end = child.kill().and_then(|()| child.wait());
            let said = format!("it does not say where it listens: {line} ({end:?})");
            return Err(failed(std::io::Error::other(said)));
        };
        let mut serving = Self { child, address, began_ms: 0.0 };
        let mut client = Client::connect(address).await.map_err(failed)?;
        client.ask(Wish::health(address).bytes()).await.map_err(failed)?;
        serving.began_ms = milliseconds(started.elapsed());
        Ok(serving)
    }

    /// Its resident memory, in MiB.
    pub(super) fn resident_mib(&self) -> Result<f64, Failure> {
        super::memory::resident_mib(self.child.id())
            .map_err(|source| Failure::Measure { what: "memory", source })
    }

    /// The memory of it, its nursery and its cells together, in MiB, where it may be looked at.
    pub(super) fn tree_mib(&self) -> Option<f64> {
        super::memory::tree_mib(self.child.id())
    }

    /// Looks at its resident memory again and again while something is done: what that gave, and the most it was.
    pub(super) async fn most_resident_while<Out>(
        &self,
        doing: impl Future<Output = Out>,
    ) -> Result<(Out, f64), Failure> {
        let mut doing = std::pin::pin!(doing);
        let mut most = self.resident_mib()?;
        loop {
            tokio::select! {
                done = &mut doing => return Ok((done, most.max(self.resident_mib()?))),
                () = tokio::time::sleep(LOOK_EVERY) => most = most.max(self.resident_mib()?),
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ended = kill_process(pid, Signal::TERM);
        }
        let _waited = self.child.wait();
    }
}
