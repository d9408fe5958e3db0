//! Each backend as a pool of the tests has it, where the machine has its parts.
#![expect(clippy::unnecessary_wraps, reason = "all are made in the same way, and some may not be there")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bailiwick_redact::Secret;
use bailiwick_sandbox::Backend;
use bailiwick_sandbox_container::ContainerBackend;
use bailiwick_sandbox_gvisor::GvisorBackend;
use bailiwick_sandbox_microvm::{Emulation, MicrovmBackend};
use bailiwick_sandbox_process::ProcessBackend;
use bailiwick_sandbox_remote::{Door, RemoteBackend};
use bailiwick_sandbox_wasm::WasmBackend;
use bailiwick_testkit::engine::Own;
use bailiwick_testkit::{Program, Running, docker};
use serde_json::Value;

/// A backend, and the server or the engine that it asks, which ends with this.
pub(super) struct Made {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) _server: Option<(Running, Program)>,
    pub(super) _engine: Option<Own>,
}

fn made(backend: impl Backend + 'static) -> Made {
    Made { backend: Arc::new(backend), _server: None, _engine: None }
}

fn jails(folder: PathBuf) -> ProcessBackend {
    ProcessBackend::new(bailiwick_sandbox_process::Options::new(folder))
}

pub(super) fn process(folder: PathBuf) -> Option<Made> {
    Some(made(jails(folder)))
}

pub(super) fn container(folder: PathBuf) -> Option<Made> {
    let options = bailiwick_sandbox_container::Options::new(folder);
    let socket = Some(docker::socket()?);
    Some(made(ContainerBackend::new(bailiwick_sandbox_container::Options { socket, ..options })))
}

/// The backend `container`, with another engine.
pub(super) fn podman(folder: PathBuf) -> Option<Made> {
    let engine = Own::podman()?;
    let options = bailiwick_sandbox_container::Options::new(folder);
    let socket = Some(engine.socket.clone());
    let backend = ContainerBackend::new(bailiwick_sandbox_container::Options { socket, ..options });
    Some(Made { _engine: Some(engine), ..made(backend) })
}

pub(super) fn gvisor(folder: PathBuf) -> Option<Made> {
    Some(made(GvisorBackend::new(bailiwick_sandbox_gvisor::Options::new(folder))))
}

pub(super) fn wasm(folder: PathBuf) -> Option<Made> {
    let behind = Arc::new(jails(folder.join("behind")));
    Some(made(WasmBackend::new(bailiwick_sandbox_wasm::Options::new(folder), behind)))
}

/// Emulated, from one that is ready.
pub(super) fn microvm(folder: PathBuf) -> Option<Made> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/microvm/boot");
    let options = bailiwick_sandbox_microvm::Options {
        kernel: if own.is_dir() { own } else { "/boot".into() },
        emulation: Emulation::Always,
        cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("machines")),
        ..bailiwick_sandbox_microvm::Options::new(folder)
    };
    Some(made(MicrovmBackend::new(options)))
}

/// Another server, which has the backend `process`.
pub(super) fn remote(_: PathBuf) -> Option<Made> {
    let program = Program::new(env!("CARGO_BIN_EXE_bailiwick"));
    let running = program.start(&["serve", "--listen", "127.0.0.1:0", "--preset", "none", "--json"]);
    running.wait_for("\"listens\"");
    let text = running.wait_for("}\n");
    let said = text.lines().find(|line| line.starts_with("{\"listens\""))?;
    let said: Value = serde_json::from_str(said).expect("what the server says is JSON");
    let address = said.get("listens")?.as_str()?.to_owned();
    let key = program.run(&["-q", "key", "create", "pool", "--scope", "author"]);
    assert_eq!(key.code, Some(0), "{}", key.stderr);
    let key = Secret::new(key.stdout.trim().to_owned());
    let finds = move || Door::new(&address, Some((&key, "a test".to_owned())), None, Duration::ZERO);
    let backend = RemoteBackend::new(bailiwick_sandbox_remote::Options::new(finds));
    Some(Made { _server: Some((running, program)), ..made(backend) })
}
