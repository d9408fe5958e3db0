//! The backends that commands may run on here, as the operator lets them.

use std::path::Path;
use std::sync::Arc;

use bailiwick_core::Backends;
use bailiwick_core::images::OperatorsImages;
use bailiwick_core::sandboxes::{OperatorsEgress, allowed, lenient};
use bailiwick_sandbox::Backend;
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
    let options = Options {
        accept: lenient(settings),
        egress: Some(Arc::new(egress)),
        images: Some(Arc::new(images)),
        ..Options::new(data.join(FOLDER))
    };
    Ok(allowed(all(options), settings))
}

/// The backends where there are no settings to ask.
pub(crate) fn as_shipped(folder: &Path) -> Backends {
    Backends::new(all(Options::new(folder)))
}

fn all(options: Options) -> [Arc<dyn Backend>; 2] {
    let wasm = wasm(&options);
    [Arc::new(ProcessBackend::new(options)), wasm]
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
