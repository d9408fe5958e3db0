//! The backends that commands may run on here, as the operator lets them.

use std::path::Path;
use std::sync::Arc;

use bailiwick_core::Backends;
use bailiwick_core::images::OperatorsImages;
use bailiwick_core::sandboxes::{OperatorsEgress, allowed, lenient};
use bailiwick_sandbox::Backend;
use bailiwick_sandbox_container::ContainerBackend;
use bailiwick_sandbox_process::{Options, ProcessBackend};

use crate::commands::secret;
use crate::failure::Failure;
use crate::resolved::Session;

/// Where backends keep what they have to, in the data folder.
const FOLDER: &str = "sandboxes";
/// Where the backend `container` does, in there.
const CONTAINERS: &str = "containers";

/// The backends of a session.
pub(crate) fn of(session: &Session) -> Result<Backends, Failure> {
    let data = session.loaded.data_folder.as_ref().ok_or(Failure::NoDataFolder)?;
    let settings = &session.loaded.settings.sandbox;
    let fallback = Arc::new(secret::fallback(session)?);
    let egress = Arc::new(OperatorsEgress::new(session.loaded.settings.clone(), data.clone(), fallback));
    let images = OperatorsImages::new(session.loaded.settings.clone(), data.clone());
    let folder = data.join(FOLDER);
    let process = Options {
        accept: lenient(settings),
        egress: Some(egress.clone()),
        images: Some(Arc::new(images)),
        ..Options::new(&folder)
    };
    let container = bailiwick_sandbox_container::Options {
        socket: settings.container.socket.clone(),
        runtime: settings.container.runtime.clone(),
        accept: lenient(settings),
        egress: Some(egress),
        ..bailiwick_sandbox_container::Options::new(folder.join(CONTAINERS))
    };
    let all: [Arc<dyn Backend>; 2] =
        [Arc::new(ProcessBackend::new(process)), Arc::new(ContainerBackend::new(container))];
    Ok(allowed(all, settings))
}

/// The backends where there are no settings to ask: those of the settings as shipped.
pub(crate) fn as_shipped(folder: &Path) -> Backends {
    let process: Arc<dyn Backend> = Arc::new(ProcessBackend::new(Options::new(folder)));
    Backends::new([process])
}
