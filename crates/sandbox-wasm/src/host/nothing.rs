//! The smallest program there is, for whoever wants to see a sandbox of this kind stand: an image of our own that no store has.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{SandboxError, Unpacked};

use super::cache;

/// Its name: of a registry that cannot be.
pub(crate) const NAME: &str = "bailiwick.invalid/nothing.wasm";
/// What its module is called.
const MODULE: &str = "nothing.wasm";

/// `(module (func (export "_start")))`, as bytes.
const NOTHING: [u8; 36] = [
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // \0asm, version 1
    1, 4, 1, 0x60, 0, 0, // one type: nothing to nothing
    3, 2, 1, 0, // one function of it
    7, 10, 1, 6, b'_', b's', b't', b'a', b'r', b't', 0, 0, // exported
    10, 4, 1, 2, 0, 0x0b, // that does nothing
];

/// An image with it.
#[derive(Debug)]
struct Nothing(PathBuf);

/// The image, in this folder; made if it is not there, and made again if it is not all there.
pub(crate) fn image(state: &Path) -> Result<Arc<dyn Unpacked>, SandboxError> {
    let failed = |error: std::io::Error| SandboxError::Failed {
        step: "write the smallest program".to_owned(),
        reason: error.to_string(),
    };
    let root = state.join("nothing");
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(&root).map_err(failed)?;
    let module = root.join(MODULE);
    if !cache::holds(&module, &NOTHING) {
        cache::replace(&module, &NOTHING, 0o644)?;
    }
    Ok(Arc::new(Nothing(root)))
}

impl Unpacked for Nothing {
    fn root(&self) -> PathBuf {
        self.0.clone()
    }

    fn digest(&self) -> &'static str {
        "ours"
    }

    fn variables(&self) -> &[(String, String)] {
        &[]
    }

    fn workdir(&self) -> Option<&str> {
        None
    }
}
