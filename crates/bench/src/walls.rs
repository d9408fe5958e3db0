//! Every backend that the operator lists, by the same measure: a sandbox from its start to its end, a command in one that runs, a
//! lease of a pool, and what one that idles weighs; beside the tool that each is built on, started alone.

use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_config::{Environment, Request, SandboxSettings, load};
use bailiwick_sandbox::{Available, Backend, Command, Pool, PoolOptions, Sandbox, SandboxError, SandboxSpec};
use bailiwick_secrets::Fallback;
use serde_json::json;
use tempfile::TempDir;

use crate::calls::milliseconds;
use crate::data_directory::DataDirectory;
use crate::failure::Failure;
use crate::memory::available_mib;
use crate::render;
use crate::row::{Row, Times};

/// The most rounds in which a sandbox and its peer take turns.
const ROUNDS: usize = 20;
/// The fewest.
const FEWEST: usize = 3;
/// After so long there are rounds enough.
const ENOUGH: Duration = Duration::from_secs(15);
/// Sandboxes that idle at once: enough to be seen beside what else the machine does.
const IDLE: usize = 12;

/// What is measured of one backend, and beside what.
struct Kind {
    backend: &'static str,
    start: &'static str,
    exec: &'static str,
    lease: &'static str,
    memory: &'static str,
    /// What the peer is called, and its row.
    peer: Option<(&'static str, &'static str)>,
}

/// The backends that have a wall on this machine.
const KINDS: &[Kind] = &[
    Kind {
        backend: "process",
        start: "wall.process.start",
        exec: "wall.process.exec",
        lease: "wall.process.lease",
        memory: "wall.process.memory",
        peer: Some(("bwrap", "wall.peer.bwrap")),
    },
    Kind {
        backend: "container",
        start: "wall.container.start",
        exec: "wall.container.exec",
        lease: "wall.container.lease",
        memory: "wall.container.memory",
        peer: Some(("docker run", "wall.peer.docker")),
    },
    Kind {
        backend: "gvisor",
        start: "wall.gvisor.start",
        exec: "wall.gvisor.exec",
        lease: "wall.gvisor.lease",
        memory: "wall.gvisor.memory",
        peer: Some(("runsc run", "wall.peer.runsc")),
    },
    Kind {
        backend: "wasm",
        start: "wall.wasm.start",
        exec: "wall.wasm.exec",
        lease: "wall.wasm.lease",
        memory: "wall.wasm.memory",
        peer: None,
    },
    Kind {
        backend: "microvm",
        start: "wall.microvm.start",
        exec: "wall.microvm.exec",
        lease: "wall.microvm.lease",
        memory: "wall.microvm.memory",
        peer: Some(("qemu, its kernel to its panic", "wall.peer.qemu")),
    },
];

/// The rows.
pub(crate) async fn walls(set: &[String]) -> Result<Vec<Row>, Failure> {
    let environment = Environment::of_this_process().map_err(Failure::Environment)?;
    let loaded = load(&environment, &Request { set: set.to_vec(), ..Request::default() })?;
    for note in &loaded.notes {
        render::note(note);
    }
    let directory = DataDirectory::new()?;
    let backends = bailiwick_backends::of(&loaded.settings, &directory.path(), Arc::new(Fallback::none()))?;
    let settings = &loaded.settings.sandbox;
    let mut rows = Vec::new();
    for (backend, probe) in backends.survey().await {
        let Some(kind) = KINDS.iter().find(|kind| kind.backend == backend.id()) else { continue };
        if let Available::No { reason, .. } = probe.availability {
            render::note(&format!("{} is not measured: {reason}", kind.backend));
            continue;
        }
        let measured = of_one(kind, &backend, settings, &probe.found).await;
        backend.close().await;
        rows.extend(measured.map_err(|error| failed(&error))?);
    }
    Ok(rows)
}

fn failed(error: &SandboxError) -> Failure {
    Failure::Measure { what: "a sandbox", source: std::io::Error::other(error.to_string()) }
}

/// Everything about one backend.
async fn of_one(
    kind: &Kind,
    backend: &Arc<dyn Backend>,
    settings: &SandboxSettings,
    found: &[String],
) -> Result<Vec<Row>, SandboxError> {
    let (spec, nothing) = backend.simplest()?;
    let peer = || Peer::of(kind.backend, settings, found);
    let mut rows = starts(kind, backend.as_ref(), &spec, &nothing, peer).await?;
    rows.push(commands(kind, backend.as_ref(), &spec, &nothing).await?);
    rows.push(leases(kind, backend, &spec, &nothing).await?);
    rows.push(idle(kind, backend.as_ref(), &spec, &nothing).await?);
    Ok(rows)
}

/// Whether another round is wanted.
fn goes_on(done: usize, began: Instant) -> bool {
    done < FEWEST || (done < ROUNDS && began.elapsed() < ENOUGH)
}

async fn run(sandbox: &dyn Sandbox, nothing: &Command) -> Result<(), SandboxError> {
    let result = sandbox.exec(nothing.clone()).await?;
    if result.exit.status() == 0 {
        return Ok(());
    }
    let reason = format!("it ended with {}", result.exit.status());
    Err(SandboxError::Failed { step: "run a command that does nothing".to_owned(), reason })
}

/// A sandbox from its start to its end, and its peer.
async fn starts(
    kind: &Kind,
    backend: &dyn Backend,
    spec: &SandboxSpec,
    nothing: &Command,
    find_peer: impl Fn() -> Option<Peer>,
) -> Result<Vec<Row>, SandboxError> {
    let began = Instant::now();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut peer = None;
    while goes_on(ours.len(), began) {
        let before = Instant::now();
        let sandbox = backend.create(spec.clone()).await?;
        run(sandbox.as_ref(), nothing).await?;
        sandbox.terminate().await?;
        ours.push(milliseconds(before.elapsed()));
        // Looked for when a sandbox was there: then what it needs is there too.
        if let Some(peer) = peer.get_or_insert_with(&find_peer)
            && let Some(time) = time(&peer.words)
        {
            theirs.push(time);
        }
    }
    let (ours, theirs) = (Times::new(ours), Times::new(theirs));
    let known = kind.peer.filter(|_| theirs.count() > 0);
    let row = Row {
        against: known.map(|(name, _)| name),
        ratio: known.map(|_| ours.median() / theirs.median()),
        ..Row::of_times(kind.start, &ours, "ms")
    };
    Ok([row].into_iter().chain(known.map(|(_, id)| Row::of_times(id, &theirs, "ms"))).collect())
}

/// A command in a sandbox that stands.
async fn commands(
    kind: &Kind,
    backend: &dyn Backend,
    spec: &SandboxSpec,
    nothing: &Command,
) -> Result<Row, SandboxError> {
    let sandbox = backend.create(spec.clone()).await?;
    let began = Instant::now();
    let mut times = Vec::new();
    while goes_on(times.len(), began) {
        let before = Instant::now();
        run(sandbox.as_ref(), nothing).await?;
        times.push(milliseconds(before.elapsed()));
    }
    sandbox.terminate().await?;
    Ok(Row::of_times(kind.exec, &Times::new(times), "ms"))
}

/// A lease of a pool with a command in it, until it is given back.
async fn leases(
    kind: &Kind,
    backend: &Arc<dyn Backend>,
    spec: &SandboxSpec,
    nothing: &Command,
) -> Result<Row, SandboxError> {
    let options = PoolOptions { max: 2, min_idle: 2, borrow_timeout: Duration::from_mins(1) };
    let pool = Pool::new(backend.clone(), spec.clone(), options)?;
    let began = Instant::now();
    let mut times = Vec::new();
    while goes_on(times.len(), began) {
        let before = Instant::now();
        let lease = pool.borrow().await?;
        run(&*lease, nothing).await?;
        times.push(milliseconds(before.elapsed()));
        lease.give_back().await;
    }
    pool.close().await;
    Ok(Row::of_times(kind.lease, &Times::new(times), "ms"))
}

/// What one that idles weighs, the share of the kernel and of helpers included.
async fn idle(
    kind: &Kind,
    backend: &dyn Backend,
    spec: &SandboxSpec,
    nothing: &Command,
) -> Result<Row, SandboxError> {
    let before = available_mib();
    let mut all = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        let sandbox = backend.create(spec.clone()).await?;
        run(sandbox.as_ref(), nothing).await?;
        all.push(sandbox);
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let each = (before - available_mib()) / IDLE as f64;
    for sandbox in all {
        sandbox.terminate().await?;
    }
    Ok(Row::new(kind.memory, each, "MiB", IDLE))
}

/// How the tool behind a backend is started alone to the same end.
struct Peer {
    words: Vec<String>,
    /// What it is started with, where that is more than words.
    _bundle: Option<TempDir>,
}

impl Peer {
    /// The peer of a backend, of which this was found; none where it cannot be started.
    fn of(backend: &str, settings: &SandboxSettings, found: &[String]) -> Option<Self> {
        let of_words = |words| Self { words, _bundle: None };
        match backend {
            "process" => Some(of_words(owned(&[
                "bwrap",
                "--unshare-all",
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "/bin/true",
            ]))),
            "gvisor" => runsc(settings),
            "container" => docker(settings).map(of_words),
            "microvm" => qemu(settings, found).map(of_words),
            _ => None,
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A plain bundle with this machine's root, read-only, as one writes it by hand.
#[expect(clippy::disallowed_methods, reason = "a directory of this measurement's own")]
fn runsc(settings: &SandboxSettings) -> Option<Peer> {
    let bundle = tempfile::tempdir().ok()?;
    let namespaces = ["pid", "mount", "network", "ipc", "uts"].map(|kind| json!({"type": kind}));
    let config = json!({
        "ociVersion": "1.0.0",
        "process": {"user": {"uid": 0, "gid": 0}, "args": ["/bin/true"], "cwd": "/", "env": ["PATH=/usr/bin:/bin"]},
        "root": {"path": "/", "readonly": true},
        "linux": {"namespaces": namespaces},
    });
    std::fs::write(bundle.path().join("config.json"), config.to_string()).ok()?;
    let directory = bundle.path().to_str()?;
    let state = format!("--root={directory}/state");
    let mut words = owned(&[settings.gvisor.program.to_str()?, "--network=none", &state]);
    if !rustix::process::geteuid().is_root() {
        words.extend(owned(&["--rootless", "--ignore-cgroups"]));
    }
    words.extend(owned(&["run", "--bundle", directory, "bailiwick-bench"]));
    Some(Peer { words, _bundle: Some(bundle) })
}

/// A container of the image that the backend made for the host's programs, as one starts it by hand.
fn docker(settings: &SandboxSettings) -> Option<Vec<String>> {
    let mut words = vec!["docker".to_owned()];
    if let Some(socket) = &settings.container.socket {
        words.extend(["-H".to_owned(), format!("unix://{}", socket.display())]);
    }
    let mut listing = words.clone();
    listing.extend(["images", "-q", "bailiwick-host"].map(str::to_owned));
    let images = said(&listing)?;
    let image = images.lines().next().filter(|image| !image.is_empty())?;
    let rest =
        ["run", "--rm", "--network", "none", "-v", "/usr:/usr:ro", "--entrypoint", "/usr/bin/true", image];
    words.extend(rest.map(str::to_owned));
    Some(words)
}

/// A machine with the same kernel and nothing to run: it panics, and ends.
fn qemu(settings: &SandboxSettings, found: &[String]) -> Option<Vec<String>> {
    let settings = &settings.microvm;
    let kernel = newest(&settings.kernel)?;
    let accelerator = accelerator(found)?;
    let words = [
        settings.program.to_str()?,
        "-M",
        "q35",
        "-accel",
        accelerator,
        "-m",
        "256",
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-kernel",
        kernel.to_str()?,
        "-append",
        "quiet panic=-1",
    ];
    Some(words.map(str::to_owned).to_vec())
}

/// The accelerator that our machines were seen to run with: emulation that is allowed is not used where KVM works.
fn accelerator(found: &[String]) -> Option<&'static str> {
    let by = found.iter().find_map(|found| found.strip_prefix("machines by "))?;
    Some(if by == "KVM" { "kvm" } else { "tcg" })
}

/// A kernel, or the last by its name of those in a directory.
fn newest(place: &Path) -> Option<PathBuf> {
    if place.is_file() {
        return Some(place.to_owned());
    }
    let found = std::fs::read_dir(place).ok()?.flatten().map(|entry| entry.path());
    found
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz")))
        .max()
}

/// What a peer says; none where it does not run.
#[expect(clippy::disallowed_methods, reason = "a peer, asked by the operator to be measured beside")]
fn said(words: &[String]) -> Option<String> {
    let [program, arguments @ ..] = words else { return None };
    let output = Program::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How long a peer takes; none where it does not run.
#[expect(clippy::disallowed_methods, reason = "a peer, started by the operator to be measured beside")]
fn time(words: &[String]) -> Option<f64> {
    let [program, arguments @ ..] = words else { return None };
    let began = Instant::now();
    let status = Program::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| milliseconds(began.elapsed()))
}

#[cfg(test)]
mod tests;
