//! Every backend of Bailiwick, put together as the operator's settings say: for the program `bailiwick`, and for whoever builds on the
//! library and does not want to name each of them.
//!
//! This is the one place that knows all backends. It must never decide about a command: it hands each backend its settings, and who makes
//! ways out and knows images. `crates/cli/examples/everywhere.rs` is a whole program on it.

mod remote;
#[cfg(feature = "wasm")]
mod wasm;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_config::{ConfigError, Environment, Settings};
use bailiwick_core::images::OperatorsImages;
use bailiwick_core::sandboxes::{OperatorsEgress, allowed, lenient};
use bailiwick_core::{Backends, Refusal};
use bailiwick_sandbox::{Backend, Egress, Images};
use bailiwick_sandbox_container::{self as container, ContainerBackend};
use bailiwick_sandbox_gvisor::{self as gvisor, GvisorBackend};
use bailiwick_sandbox_microvm::{self as microvm, Choice, Emulation, MicrovmBackend};
use bailiwick_sandbox_process::{Options, ProcessBackend};
use bailiwick_secrets::Fallback;

/// Where backends keep what they have to, in the data folder.
const FOLDER: &str = "sandboxes";
/// Where results of probes are kept, in there.
const PROBES: &str = "probes";
/// Where the backend `container` does, in there.
const CONTAINERS: &str = "containers";

/// Backends, whether commands may run on them or not.
pub type Known = Vec<Arc<dyn Backend>>;

/// The first thing that a program with these backends does: some sandboxes are made by starting it again, and then this does not return.
pub fn enter() {
    bailiwick_sandbox_process::enter();
    #[cfg(feature = "wasm")]
    bailiwick_sandbox_wasm::enter();
}

/// The backends that the operator lets commands run on.
pub fn of(settings: &Settings, data: &Path, fallback: Arc<Fallback>) -> Result<Backends, Refusal> {
    let probes = settings.sandbox.probe_cache.clone().unwrap_or_else(|| data.join(FOLDER).join(PROBES));
    Ok(allowed(built(settings, data, fallback, Some(probes))?, &settings.sandbox))
}

/// Every backend that there is, whether the operator lets commands run on it or not, with a probe of its own. What it keeps is in this data
/// folder; variables of the environment may stand in for secrets.
pub fn known(all: &Settings, data: &Path, fallback: Arc<Fallback>) -> Result<Known, Refusal> {
    built(all, data, fallback, None)
}

/// Every backend. Those whose probes are slow take results from this directory, if one is given.
fn built(
    all: &Settings,
    data: &Path,
    fallback: Arc<Fallback>,
    probe_cache: Option<PathBuf>,
) -> Result<Known, Refusal> {
    let settings = &all.sandbox;
    let remote = remote::of(all, data.to_owned(), fallback.clone());
    let egress = OperatorsEgress::new(all.clone(), data.to_owned(), fallback);
    let images = OperatorsImages::new(all.clone(), data.to_owned());
    let (egress, images): (Arc<dyn Egress>, Arc<dyn Images>) = (Arc::new(egress), Arc::new(images));
    let process = Options {
        accept: lenient(settings),
        egress: Some(egress.clone()),
        images: Some(images.clone()),
        ..Options::new(data.join(FOLDER))
    };
    let gvisor = gvisor::Options {
        program: settings.gvisor.program.clone(),
        platform: settings.gvisor.platform.clone(),
        probe_cache: probe_cache.clone(),
        accept: lenient(settings),
        egress: Some(egress.clone()),
        images: Some(images.clone()),
        ..gvisor::Options::new(data.join(FOLDER))
    };
    let container = container::Options {
        socket: settings.container.socket.clone(),
        runtime: settings.container.runtime.clone(),
        probe_cache,
        accept: lenient(settings),
        egress: Some(egress.clone()),
        ..container::Options::new(data.join(FOLDER).join(CONTAINERS))
    };
    let container: Arc<dyn Backend> = Arc::new(ContainerBackend::new(container));
    #[cfg(feature = "wasm")]
    let wasm = Some(wasm::of(settings, &data.join(FOLDER), images.clone())?);
    #[cfg(not(feature = "wasm"))]
    let wasm = None;
    let microvm = microvm::Options {
        monitor: match settings.microvm.monitor.as_str() {
            "qemu" => Choice::Qemu,
            "firecracker" => Choice::Firecracker,
            _ => Choice::Auto,
        },
        firecracker: settings.microvm.firecracker.clone(),
        program: settings.microvm.program.clone(),
        kernel: settings.microvm.kernel.clone(),
        emulation: if settings.microvm.emulation { Emulation::WithoutKvm } else { Emulation::Never },
        cache: settings.microvm.cache.clone(),
        accept: lenient(settings),
        egress: Some(egress),
        images: Some(images),
        ..microvm::Options::new(data.join(FOLDER))
    };
    Ok(local(process, gvisor, microvm, wasm).into_iter().chain([container, remote]).collect())
}

/// Every backend, and the names of those that commands may run on, where there are no settings to ask:
/// those that need nothing of anybody. An engine is somebody's, and so is another server: they are asked only where there are settings.
pub fn as_shipped(folder: &Path) -> Result<(Known, Vec<String>), ConfigError> {
    let nobody = Environment {
        working_folder: folder.to_owned(),
        system_folder: folder.to_owned(),
        ..Environment::default()
    };
    let shipped = bailiwick_config::load(&nobody, &bailiwick_config::Request::default())?;
    #[cfg(feature = "wasm")]
    let wasm = Some(wasm::as_shipped(folder));
    #[cfg(not(feature = "wasm"))]
    let wasm = None;
    let (process, gvisor) = (Options::new(folder), gvisor::Options::new(folder));
    let all = local(process, gvisor, microvm::Options::new(folder), wasm);
    Ok((all, shipped.settings.sandbox.backends))
}

/// The backends that need nothing but this machine. `wasm` is a part of this program only where that feature is.
fn local(
    process: Options,
    gvisor: gvisor::Options,
    microvm: microvm::Options,
    wasm: Option<Arc<dyn Backend>>,
) -> Known {
    let mut all: Known = vec![
        Arc::new(ProcessBackend::new(process)),
        Arc::new(GvisorBackend::new(gvisor)),
        Arc::new(MicrovmBackend::new(microvm)),
    ];
    all.extend(wasm);
    all
}
