//! The backends that commands may run on here, as the operator lets them.

mod remote;

use std::path::Path;
use std::sync::Arc;

use bailiwick_config::Environment;
use bailiwick_core::images::OperatorsImages;
use bailiwick_core::sandboxes::{OperatorsEgress, allowed, ceilings, lenient};
use bailiwick_core::{Backends, Refusal};
use bailiwick_sandbox::{Backend, Egress, Images, SandboxError};
use bailiwick_sandbox_container::{self as container, ContainerBackend};
use bailiwick_sandbox_gvisor::{self as gvisor, GvisorBackend};
use bailiwick_sandbox_microvm::{self as microvm, Choice, Emulation, MicrovmBackend};
use bailiwick_sandbox_process::{Options, ProcessBackend};
use bailiwick_sandbox_wasm::{self as wasm, WasmBackend};

use crate::commands::secret;
use crate::failure::Failure;
use crate::resolved::Session;

/// Where backends keep what they have to, in the data folder.
const FOLDER: &str = "sandboxes";
/// Where the backend `wasm` does, in there.
const WASM: &str = "wasm";
/// Where the backend `container` does, in there.
const CONTAINERS: &str = "containers";

/// Backends, whether commands may run on them or not.
pub(crate) type Known = Vec<Arc<dyn Backend>>;

/// The backends of a session: those that the operator lets commands run on.
pub(crate) fn of(session: &Session) -> Result<Backends, Failure> {
    Ok(allowed(known(session)?, &session.loaded.settings.sandbox))
}

/// Every backend that there is, whether the operator lets commands run on it or not.
pub(crate) fn known(session: &Session) -> Result<Known, Failure> {
    let data = session.loaded.data_folder.as_ref().ok_or(Failure::NoDataFolder)?;
    let settings = &session.loaded.settings.sandbox;
    let fallback = Arc::new(secret::fallback(session)?);
    let remote = remote::of(settings, data.clone(), fallback.clone());
    let egress = OperatorsEgress::new(session.loaded.settings.clone(), data.clone(), fallback);
    let images = OperatorsImages::new(session.loaded.settings.clone(), data.clone());
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
        accept: lenient(settings),
        egress: Some(egress.clone()),
        images: Some(images.clone()),
        ..gvisor::Options::new(data.join(FOLDER))
    };
    let container = container::Options {
        socket: settings.container.socket.clone(),
        runtime: settings.container.runtime.clone(),
        accept: lenient(settings),
        egress: Some(egress.clone()),
        ..container::Options::new(data.join(FOLDER).join(CONTAINERS))
    };
    let container: Arc<dyn Backend> = Arc::new(ContainerBackend::new(container));
    let wasm = wasm::Options::new(data.join(FOLDER).join(WASM));
    let most = ceilings(settings).and_then(|ceilings| wasm.compile.within(&ceilings));
    let wasm = wasm::Options {
        accept: lenient(settings),
        images: process.images.clone(),
        fuel: settings.wasm_fuel,
        compile: most.map_err(SandboxError::from).map_err(Refusal::from)?,
        ..wasm
    };
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
        accept: lenient(settings),
        egress: Some(egress),
        images: Some(images),
        ..microvm::Options::new(data.join(FOLDER))
    };
    Ok(all(process, gvisor, microvm, wasm).into_iter().chain([container, remote]).collect())
}

/// Every backend, and the names of those that commands may run on, where there are no settings to ask:
/// those that need nothing of anybody. An engine is somebody's, and so is another server: they are asked only where there are settings.
pub(crate) fn as_shipped(folder: &Path) -> Result<(Known, Vec<String>), Failure> {
    let nobody = Environment {
        working_folder: folder.to_owned(),
        system_folder: folder.to_owned(),
        ..Environment::default()
    };
    let shipped = bailiwick_config::load(&nobody, &bailiwick_config::Request::default())?;
    let wasm = wasm::Options::new(folder.join(WASM));
    let (process, gvisor) = (Options::new(folder), gvisor::Options::new(folder));
    let all = all(process, gvisor, microvm::Options::new(folder), wasm);
    Ok((all, shipped.settings.sandbox.backends))
}

fn all(process: Options, gvisor: gvisor::Options, microvm: microvm::Options, wasm: wasm::Options) -> Known {
    vec![
        Arc::new(ProcessBackend::new(process)),
        Arc::new(GvisorBackend::new(gvisor)),
        Arc::new(MicrovmBackend::new(microvm)),
        Arc::new(webassembly(wasm)),
    ]
}

/// WebAssembly, behind jails of its own: they have no way out and no image, and walls that the engine holds may be partial there.
fn webassembly(options: wasm::Options) -> WasmBackend {
    let accept = WasmBackend::accepts(&options.accept);
    let behind = Options { accept, ..Options::new(options.state.join("behind")) };
    WasmBackend::new(options, Arc::new(ProcessBackend::new(behind)))
}
