//! The backend `remote`, against a real server: `bailiwick serve` on a machine of its own.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a fixture that cannot be made ends its test"
)]

mod commands;
mod cuts;
mod cutter;
mod ends;
mod program;

use std::time::Duration;

use bailiwick_redact::Secret;
use bailiwick_sandbox::{Backend, Command, ExecResult, Sandbox, SandboxSpec};
use bailiwick_sandbox_remote::{Door, Options, RemoteBackend};
use bailiwick_testkit::Program;
use serde_json::Value;

use super::bailiwick;
use super::exec::has_sandboxes;
use super::serving::{Serving, run};

/// Longer than anything here takes; only a test that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server on another machine, and a key for it.
struct There {
    program: Program,
    serving: Serving,
    key: String,
}

impl There {
    #[track_caller]
    fn start() -> Self {
        Self::with("")
    }

    /// With more settings.
    #[track_caller]
    fn with(settings: &str) -> Self {
        // A cutter in front of it has a port of its own.
        let settings = format!("{settings}\n[server]\nhosts = [\"127.0.0.1\"]\n");
        let program = bailiwick().with_home_file(".config/bailiwick/bailiwick.toml", &settings);
        let serving = Serving::start(&program, &[]);
        let key = run(&program, &["-q", "key", "create", "other", "--scope", "author"], 0).stdout;
        Self { program, serving, key: key.trim().to_owned() }
    }

    fn address(&self) -> &str {
        self.serving.address()
    }

    fn backend(&self) -> RemoteBackend {
        self.backend_at(self.address(), Duration::ZERO)
    }

    /// The backend that asks it through this address.
    fn backend_at(&self, address: &str, patience: Duration) -> RemoteBackend {
        let (address, key) = (address.to_owned(), Secret::new(self.key.clone()));
        let finds = move || Door::new(&address, Some((&key, "a test".to_owned())), None, patience);
        RemoteBackend::new(Options::new(finds))
    }

    /// The sandboxes that it keeps.
    fn kept(&self) -> Vec<Value> {
        let listed = run(&self.program, &["sandbox", "ls", "--json"], 0).stdout;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        listed["sandboxes"].as_array().expect("a list").clone()
    }

    /// Waits until it keeps none.
    fn is_empty(&self) {
        let begun = std::time::Instant::now();
        while !self.kept().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:#?}", self.kept());
        }
    }

    /// How many sandboxes it ever made, by its record.
    fn made(&self) -> usize {
        let told = run(&self.program, &["audit", "tail", "-n", "200", "--json"], 0).stdout;
        told.matches("\"sandbox.create\"").count()
    }
}

fn block_on<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime
        .expect("a runtime")
        .block_on(async { tokio::time::timeout(PATIENCE, doing).await.expect("nothing hangs") })
}

fn shell(text: &str) -> Command {
    Command::shell(text).expect("a command")
}

async fn made(backend: &RemoteBackend) -> Box<dyn Sandbox> {
    backend.create(SandboxSpec::default()).await.expect("a sandbox")
}

/// Runs a text in a shell; gives what it said.
async fn ran(sandbox: &dyn Sandbox, text: &str) -> ExecResult {
    sandbox.exec(shell(text)).await.expect("it ran")
}

fn out(result: &ExecResult) -> String {
    String::from_utf8_lossy(&result.stdout.bytes).into_owned()
}
