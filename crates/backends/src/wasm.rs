//! The backend `wasm`, behind jails of its own: they have no way out and no image, and walls that the engine holds may be partial there.

use std::path::Path;
use std::sync::Arc;

use bailiwick_config::SandboxSettings;
use bailiwick_core::Refusal;
use bailiwick_core::sandboxes::{ceilings, lenient};
use bailiwick_sandbox::{Backend, Images, SandboxError};
use bailiwick_sandbox_process::{self as process, ProcessBackend};
use bailiwick_sandbox_wasm::{Options, WasmBackend};

/// Its directory, in that of all backends.
const DIRECTORY: &str = "wasm";

/// As the operator's settings say.
pub(super) fn of(
    settings: &SandboxSettings,
    directory: &Path,
    images: Arc<dyn Images>,
) -> Result<Arc<dyn Backend>, Refusal> {
    let options = Options::new(directory.join(DIRECTORY));
    let compile = ceilings(settings).and_then(|ceilings| options.compile.within(&ceilings));
    Ok(behind_jails(Options {
        accept: lenient(settings),
        images: Some(images),
        fuel: settings.wasm_fuel,
        compile: compile.map_err(SandboxError::from).map_err(Refusal::from)?,
        ..options
    }))
}

/// Where there are no settings.
pub(super) fn as_shipped(directory: &Path) -> Arc<dyn Backend> {
    behind_jails(Options::new(directory.join(DIRECTORY)))
}

fn behind_jails(options: Options) -> Arc<dyn Backend> {
    let accept = WasmBackend::accepts(&options.accept);
    let behind = process::Options { accept, ..process::Options::new(options.state.join("behind")) };
    Arc::new(WasmBackend::new(options, Arc::new(ProcessBackend::new(behind))))
}
