//! Which images are programs in WebAssembly, by their names, and where the module of one is.

use std::path::{Path, PathBuf};

use bailiwick_sandbox::SandboxError;
use bailiwick_types::{ErrorCode, shortened};

/// How names of such images end, and files of modules.
const ENDING: &str = ".wasm";
/// The most entries at the top of an image that are looked at.
const MOST_ENTRIES: usize = 256;

/// Whether an image of this name is one: `python.wasm`, `registry.example/tools/jq.wasm:1.7`, the same with a digest.
pub(crate) fn is_named_so(name: &str) -> bool {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    // A tag is behind the last colon, unless that is the one of a port.
    let bare = match name.rsplit_once(':') {
        Some((bare, tag)) if !tag.contains('/') => bare,
        _ => name,
    };
    bare.ends_with(ENDING)
}

/// What is at the top of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Top {
    /// Its root, with no link on the way.
    pub(crate) root: PathBuf,
    /// The name of its one module.
    pub(crate) module: String,
    /// Its folders.
    pub(crate) folders: Vec<String>,
}

/// Looks at the top of an image.
pub(crate) fn top(name: &str, root: &Path) -> Result<Top, SandboxError> {
    let refused =
        |why: String| SandboxError::File { path: shortened(name), why, code: ErrorCode::InvalidInput };
    let failed = |error: std::io::Error| SandboxError::Failed {
        step: format!("look at the image `{}`", shortened(name)),
        reason: error.to_string(),
    };
    let root = root.canonicalize().map_err(failed)?;
    let (mut modules, mut folders) = (Vec::new(), Vec::new());
    for (index, entry) in std::fs::read_dir(&root).map_err(failed)?.enumerate() {
        let entry = entry.map_err(failed)?;
        if index >= MOST_ENTRIES {
            return Err(refused(format!("there are more than {MOST_ENTRIES} files and folders at its top")));
        }
        let kind = entry.file_type().map_err(failed)?;
        // What is named by no text nobody could ask for.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if kind.is_dir() {
            folders.push(name);
        } else if kind.is_file() && name.ends_with(ENDING) {
            modules.push(name);
        }
    }
    folders.sort();
    match <[String; 1]>::try_from(modules) {
        Ok([module]) => Ok(Top { root, module, folders }),
        Err(modules) => Err(refused(format!(
            "an image of WebAssembly has one file that ends with `{ENDING}` at its top, and this one has {}; \
             `bailiwick image import FILE{ENDING} NAME{ENDING}` makes one",
            modules.len()
        ))),
    }
}
