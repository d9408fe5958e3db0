//! A server of the measured program, in a data directory of its own, ended when it is dropped.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::calls::milliseconds;
use crate::data_directory::DataDirectory;
use crate::failure::Failure;
use crate::load::{Client, Request};

/// How often its memory is looked at while it works.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A server that runs.
pub(crate) struct RunningServer {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From its start to the first request it served, in milliseconds.
    pub(crate) began_ms: f64,
}

impl RunningServer {
    /// Starts one, and waits until it served a request.
    #[expect(clippy::disallowed_methods, reason = "a figure of this program, started by the operator")]
    pub(crate) async fn start(
        program: &Path,
        directory: &DataDirectory,
        settings: &[&str],
    ) -> Result<Self, Failure> {
        let failed = |source| Failure::Measure { what: "a server", source };
        let started = Instant::now();
        let mut command = Command::new(program);
        command.arg("--data").arg(directory.path()).arg("--json");
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
        let mut server = Self { child, address, began_ms: 0.0 };
        let mut client = Client::connect(address).await.map_err(failed)?;
        client.ask(Request::health(address).bytes()).await.map_err(failed)?;
        server.began_ms = milliseconds(started.elapsed());
        Ok(server)
    }

    /// Its resident memory, in MiB.
    pub(crate) fn resident_mib(&self) -> Result<f64, Failure> {
        crate::memory::resident_mib(self.child.id())
            .map_err(|source| Failure::Measure { what: "memory", source })
    }

    /// The memory of it, its zygote and its cells together, in MiB, where this user may read it.
    pub(crate) fn tree_mib(&self) -> Option<f64> {
        crate::memory::tree_mib(self.child.id())
    }

    /// Looks at its resident memory again and again while something is done: what that gave, and the most it was.
    pub(crate) async fn most_resident_while<Out>(
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

impl Drop for RunningServer {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ended = kill_process(pid, Signal::TERM);
        }
        let _waited = self.child.wait();
    }
}
