//! The smallest program there is, for whoever wants to see a sandbox of this kind stand: an image of our own that no store has.

use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_sandbox::{SandboxError, Unpacked};

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

/// The image, in this folder; made if it is not there.
pub(crate) fn image(state: &Path) -> Result<Arc<dyn Unpacked>, SandboxError> {
    use std::io::Write as _;
    let write = || -> std::io::Result<PathBuf> {
        let root = state.join("nothing");
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(&root)?;
        let opened =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(root.join(MODULE));
        match opened {
            Ok(mut file) => file.write_all(&NOTHING)?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(root)
    };
    let root = write().map_err(|error| SandboxError::Failed {
        step: "write the smallest program".to_owned(),
        reason: error.to_string(),
    })?;
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
