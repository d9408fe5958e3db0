//! The backends that commands may run on here, as the operator lets them.

use std::path::Path;
use std::sync::Arc;

use bailiwick_core::Backends;
use bailiwick_core::images::OperatorsImages;
use bailiwick_core::sandboxes::{OperatorsEgress, allowed, lenient};
use bailiwick_sandbox::{Backend, Egress, Images};
use bailiwick_sandbox_gvisor::{self as gvisor, GvisorBackend};
use bailiwick_sandbox_microvm::{self as microvm, Emulation, MicrovmBackend};
use bailiwick_sandbox_process::{Options, ProcessBackend};
use bailiwick_sandbox_wasm::WasmBackend;

use crate::commands::secret;
use crate::failure::Failure;
use crate::resolved::Session;

/// Where backends keep what they have to, in the data folder.
const FOLDER: &str = "sandboxes";

/// The backends of a session.
pub(crate) fn of(session: &Session) -> Result<Backends, Failure> {
    let data = session.loaded.data_folder.as_ref().ok_or(Failure::NoDataFolder)?;
    let settings = &session.loaded.settings.sandbox;
    let fallback = Arc::new(secret::fallback(session)?);
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
    let microvm = microvm::Options {
        program: settings.microvm.program.clone(),
        kernel: settings.microvm.kernel.clone(),
        emulation: if settings.microvm.emulation { Emulation::WithoutKvm } else { Emulation::Never },
        accept: lenient(settings),
        egress: Some(egress),
        images: Some(images),
        ..microvm::Options::new(data.join(FOLDER))
    };
    Ok(allowed(all(process, gvisor, microvm), settings))
}

/// The backends where there are no settings to ask.
pub(crate) fn as_shipped(folder: &Path) -> Backends {
    Backends::new(all(Options::new(folder), gvisor::Options::new(folder), microvm::Options::new(folder)))
}

fn all(process: Options, gvisor: gvisor::Options, microvm: microvm::Options) -> [Arc<dyn Backend>; 4] {
    let wasm = wasm(&process);
    let (gvisor, microvm) = (GvisorBackend::new(gvisor), MicrovmBackend::new(microvm));
    [Arc::new(ProcessBackend::new(process)), Arc::new(gvisor), Arc::new(microvm), wasm]
}

/// WebAssembly, behind jails of its own: they have no way out and no image, and walls that the engine holds may be partial there.
fn wasm(options: &Options) -> Arc<dyn Backend> {
    let state = options.state.join("wasm");
    let behind =
        Options { accept: WasmBackend::accepts(&options.accept), ..Options::new(state.join("behind")) };
    let own = bailiwick_sandbox_wasm::Options {
        accept: options.accept.clone(),
        images: options.images.clone(),
        ..bailiwick_sandbox_wasm::Options::new(state)
    };
    Arc::new(WasmBackend::new(own, Arc::new(ProcessBackend::new(behind))))
}
