//! A backend without any wall, for tests of what is around backends: it starts real processes in a folder of their own. It
//! never ships, and says of everything that it does not hold it unless a test wants it to lie.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bailiwick_sandbox::{
    Available, Backend, Chunk, Command, Demand, Doing, Ended, Entry, EntryKind, ExecResult, ExecUsage, Exit,
    Input, Probe, Put, Reset, Running, Sandbox, SandboxError, SandboxPath, SandboxSpec, Snapshot, Stream,
    receipt, run_to_end,
};
use bailiwick_types::{Receipt, SandboxId, SnapshotId, Tier, WallStatus, Wallpart};
use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc, oneshot};

/// The backend, and how many of its sandboxes stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unwalled {
    pub(crate) made: Arc<AtomicU64>,
    pub(crate) alive: Arc<AtomicU64>,
    /// Told when somebody begins to use it.
    pub(crate) begun: Arc<Notify>,
    /// Demands that it does not hold.
    pub(crate) lacks: Vec<Demand>,
    /// A demand that it says it holds, and how many of its first sandboxes do.
    pub(crate) feigns: Option<(Demand, u64)>,
    /// How strong it says that it is, and how many of its first sandboxes are.
    pub(crate) claims: Option<(Tier, u64)>,
}

#[derive(Debug)]
struct Open {
    id: SandboxId,
    spec: SandboxSpec,
    receipt: Receipt,
    warnings: Vec<String>,
    folder: tempfile::TempDir,
    is_gone: AtomicBool,
    backend: Unwalled,
}

/// Holds everything but these.
fn report(lacks: &[Demand]) -> Vec<Wallpart> {
    let part = |demand: Demand| Wallpart {
        demand: demand.name().to_owned(),
        mechanism: "nothing but the word of a test".to_owned(),
        status: if lacks.contains(&demand) { WallStatus::Absent } else { WallStatus::Enforced },
    };
    Demand::ALL.into_iter().map(part).collect()
}

impl Unwalled {
    fn open(&self, spec: SandboxSpec) -> Box<dyn Sandbox> {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        self.alive.fetch_add(1, Ordering::SeqCst);
        let tier = self.claims.filter(|(_, kept)| number < *kept).map_or(Tier::Process, |(tier, _)| tier);
        let warnings = self.lacks.iter().map(|demand| format!("{} is not held", demand.name())).collect();
        let feigned = self.feigns.filter(|(_, kept)| number >= *kept).map(|(demand, _)| demand);
        let lacks: Vec<Demand> = self.lacks.iter().copied().chain(feigned).collect();
        Box::new(Open {
            id: SandboxId::from_parts(number << 32, &[u8::try_from(number).unwrap_or(0); 10]),
            receipt: receipt(tier, &spec, &report(&lacks)),
            warnings,
            spec,
            folder: tempfile::tempdir().expect("a folder"),
            is_gone: AtomicBool::new(false),
            backend: self.clone(),
        })
    }
}

impl Backend for Unwalled {
    fn id(&self) -> &'static str {
        "process"
    }

    fn tier(&self) -> Tier {
        self.claims.map_or(Tier::Process, |(tier, _)| tier)
    }

    fn priority(&self) -> u32 {
        10
    }

    fn probe(&self) -> Doing<'_, Probe> {
        let probe = Probe { availability: Available::Yes, enforces: report(&self.lacks), found: Vec::new() };
        Box::pin(std::future::ready(probe))
    }

    fn can_run(&self, _spec: &SandboxSpec) -> Result<(), SandboxError> {
        Ok(())
    }

    fn create(&self, spec: SandboxSpec) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async { Ok(self.open(spec)) })
    }

    fn forget<'a>(&'a self, _snapshot: &'a Snapshot) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn begin(&self) -> Doing<'_, ()> {
        self.begun.notify_one();
        Box::pin(std::future::ready(()))
    }

    fn close(&self) -> Doing<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Open {
    fn path(&self, path: &SandboxPath) -> PathBuf {
        let inside = path.as_str().strip_prefix("/work").unwrap_or(path.as_str());
        self.folder.path().join(inside.trim_start_matches('/'))
    }

    fn end(&self) {
        if !self.is_gone.swap(true, Ordering::SeqCst) {
            self.backend.alive.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end();
    }
}

fn failed(path: &SandboxPath, error: &std::io::Error) -> SandboxError {
    SandboxError::File {
        path: path.to_string(),
        why: error.to_string(),
        code: bailiwick_types::ErrorCode::NotFound,
    }
}

/// Runs a process until it ends, is killed, or its time is up.
async fn attend(
    mut child: tokio::process::Child,
    mut input: mpsc::Receiver<Input>,
    mut urgent: mpsc::Receiver<Input>,
    output: mpsc::Sender<Chunk>,
    deadline: Duration,
) -> Ended {
    let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feeding = tokio::spawn(async move {
        while let Some(Input::Bytes(bytes)) = input.recv().await {
            if let Some(stdin) = &mut stdin
                && stdin.write_all(&bytes).await.is_err()
            {
                return;
            }
        }
    });
    let hear = |stream, from: Option<Box<dyn tokio::io::AsyncRead + Send + Unpin>>| {
        let output = output.clone();
        tokio::spawn(async move {
            let Some(mut from) = from else { return };
            let mut piece = vec![0; 8192];
            while let Ok(read @ 1..) = from.read(&mut piece).await {
                let bytes = Bytes::copy_from_slice(&piece[..read]);
                if output.send(Chunk { stream, bytes }).await.is_err() {
                    return;
                }
            }
        })
    };
    let hearing = [
        hear(Stream::Stdout, stdout.map(|out| Box::new(out) as _)),
        hear(Stream::Stderr, stderr.map(|out| Box::new(out) as _)),
    ];
    let mut timed_out = false;
    let status = tokio::select! {
        status = child.wait() => status,
        () = async {
            while let Some(told) = urgent.recv().await {
                if told == Input::Kill {
                    return;
                }
            }
            std::future::pending::<()>().await;
        } => {
            child.start_kill().expect("it can be killed");
            child.wait().await
        }
        () = tokio::time::sleep(deadline) => {
            timed_out = true;
            child.start_kill().expect("it can be killed");
            child.wait().await
        }
    };
    feeding.abort();
    for hears in hearing {
        hears.await.expect("it hears to the end");
    }
    let status = status.expect("it ended");
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    let exit = status.code().map_or_else(|| Exit::Signal(signal.unwrap_or(9)), Exit::Code);
    Ended { exit, timed_out, oom: false, usage: ExecUsage::default(), denials: Vec::new() }
}

#[expect(clippy::disallowed_methods, reason = "files of a test's own folder")]
impl Sandbox for Open {
    fn id(&self) -> SandboxId {
        self.id
    }

    fn backend(&self) -> &'static str {
        "process"
    }

    fn spec(&self) -> &SandboxSpec {
        &self.spec
    }

    fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn spawn(&self, command: Command) -> Doing<'_, Result<Running, SandboxError>> {
        let (program, words) = command.argv().split_first().expect("a command has words");
        let mut process = tokio::process::Command::new(program);
        process.args(words).current_dir(self.folder.path()).envs(&self.spec.env).envs(&command.env);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let (input, told) = mpsc::channel(4);
        let (urgent, soon) = mpsc::channel(4);
        let (says, output) = mpsc::channel(4);
        let (end, ended) = oneshot::channel();
        let deadline = command.deadline(self.spec.limits.timeout.value);
        if let Ok(child) = process.spawn() {
            tokio::spawn(async move {
                let ended = attend(child, told, soon, says, deadline).await;
                let _nobody_waits = end.send(Ok(ended));
            });
        } else {
            let ended = Ended {
                exit: Exit::NotFound,
                timed_out: false,
                oom: false,
                usage: ExecUsage::default(),
                denials: Vec::new(),
            };
            let _nobody_waits = end.send(Ok(ended));
        }
        Box::pin(std::future::ready(Ok(Running { input, urgent, output, ended })))
    }

    fn exec(&self, command: Command) -> Doing<'_, Result<ExecResult, SandboxError>> {
        Box::pin(async move {
            let running = self.spawn(command.clone()).await?;
            let finished = run_to_end(running, &command, self.spec.limits.output.value).await?;
            let correlation = self.spec.correlation.clone().expect("a core names one");
            Ok(ExecResult::new(self, finished, correlation))
        })
    }

    fn write_file<'a>(
        &'a self,
        path: &'a SandboxPath,
        bytes: Bytes,
        _executable: bool,
    ) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move { std::fs::write(self.path(path), bytes).map_err(|error| failed(path, &error)) })
    }

    fn read_file<'a>(&'a self, path: &'a SandboxPath, _most: u64) -> Doing<'a, Result<Bytes, SandboxError>> {
        Box::pin(async move {
            std::fs::read(self.path(path)).map(Bytes::from).map_err(|error| failed(path, &error))
        })
    }

    fn list<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<Vec<Entry>, SandboxError>> {
        Box::pin(async move {
            let entries = std::fs::read_dir(self.path(path)).map_err(|error| failed(path, &error))?;
            let entry = |entry: std::fs::DirEntry| Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                kind: EntryKind::File,
                bytes: 0,
                mode: 0o644,
            };
            Ok(entries.filter_map(Result::ok).map(entry).collect())
        })
    }

    fn remove<'a>(&'a self, path: &'a SandboxPath) -> Doing<'a, Result<(), SandboxError>> {
        Box::pin(async move { std::fs::remove_file(self.path(path)).map_err(|error| failed(path, &error)) })
    }

    fn put<'a>(&'a self, path: &'a SandboxPath, what: Put) -> Doing<'a, Result<(), SandboxError>> {
        match what {
            Put::File { bytes, .. } => self.write_file(path, bytes, false),
            Put::Folder { .. } | Put::Link { .. } => Box::pin(std::future::ready(Err(unsupported("links")))),
        }
    }

    fn written_over(&self, _to: &SandboxPath) -> Result<OwnedFd, SandboxError> {
        Err(unsupported("overlays"))
    }

    fn expose(&self, _port: u16) -> Doing<'_, Result<u16, SandboxError>> {
        Box::pin(std::future::ready(Err(unsupported("ports"))))
    }

    fn snapshot(&self) -> Doing<'_, Result<Snapshot, SandboxError>> {
        let number = self.backend.made.fetch_add(1, Ordering::SeqCst);
        let id = SnapshotId::from_parts(number << 32, &[7; 10]);
        Box::pin(std::future::ready(Ok(Snapshot { id, backend: "process".to_owned(), bytes: 1 })))
    }

    fn hibernate(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn resume(&self) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn fork(&self) -> Doing<'_, Result<Box<dyn Sandbox>, SandboxError>> {
        Box::pin(async { Ok(self.backend.open(self.spec.clone())) })
    }

    fn usage(&self) -> Doing<'_, Result<ExecUsage, SandboxError>> {
        Box::pin(std::future::ready(Ok(ExecUsage::default())))
    }

    fn stop(&self, _grace: Duration) -> Doing<'_, Result<(), SandboxError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn terminate(&self) -> Doing<'_, Result<(), SandboxError>> {
        self.end();
        Box::pin(std::future::ready(Ok(())))
    }

    fn reset(&self) -> Doing<'_, Result<Reset, SandboxError>> {
        Box::pin(std::future::ready(Ok(Reset::Unproven("it has no wall".to_owned()))))
    }

    fn is_alive(&self) -> bool {
        !self.is_gone.load(Ordering::SeqCst)
    }
}

fn unsupported(what: &str) -> SandboxError {
    SandboxError::Unsupported { backend: "process".to_owned(), what: what.to_owned() }
}
