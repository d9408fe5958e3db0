//! Having a module compiled: in a sandbox of the backend behind, with bounds of its own, by this program started again there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_sandbox::{
    Command, ExecResult, Exit, Held, Limits, Mount, Preset, SandboxError, SandboxPath, SandboxSpec,
};
use bailiwick_types::{ErrorCode, shortened};

use super::backend::Inner;
use super::{cache, outcome};
use crate::order::{COMPILE, Compile, End, IMAGE, MADE, PROGRAM};
use crate::{enter, inside};

/// The most that compiled code takes.
const MOST: u64 = 1 << 30;
/// The longest that compiling takes.
const LONGEST: Duration = Duration::from_mins(5);
/// How much of what the compiler says is told on.
const TOLD: usize = 512;

/// What compiling a module may use where nobody says less.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::preset(Preset::Dev);
    limits.disk.value = MOST;
    limits.timeout.value = LONGEST;
    limits
}

/// A module of an image, or of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// What people call it.
    pub(crate) name: &'a str,
    /// The digest of what it lies in.
    pub(crate) digest: &'a str,
    /// The folder that it lies in.
    pub(crate) root: &'a Path,
    /// Its name there.
    pub(crate) module: &'a str,
}

/// The compiled code of a module; made if it is not there.
pub(crate) async fn compiled(inner: &Inner, source: Source<'_>) -> Result<PathBuf, SandboxError> {
    let counts = inner.options.fuel.is_some();
    let compatibility = inside::compatibility(counts).map_err(|error| SandboxError::Failed {
        step: "set up the engine".to_owned(),
        reason: error.to_string(),
    })?;
    let key = cache::key(&compatibility, source.digest, source.module);
    if let Some(code) = inner.cache.find(&key)? {
        return Ok(code);
    }
    let _one_at_a_time = inner.cache.compiling.lock().await;
    // Somebody else may have been first.
    if let Some(code) = inner.cache.find(&key)? {
        return Ok(code);
    }
    let code = compile(inner, source, counts).await?;
    inner.cache.keep(&key, &code)
}

/// This program, as it is mounted where it runs again.
pub(crate) fn program() -> Result<Held<Mount>, SandboxError> {
    const STEP: &str = "find this program";
    let failed = |reason: String| SandboxError::Failed { step: STEP.to_owned(), reason };
    if !enter::was_entered() {
        return Err(failed("`bailiwick_sandbox_wasm::enter` was not called at the top of `main`".to_owned()));
    }
    let from = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .map_err(|error| failed(error.to_string()))?;
    Mount { from, to: SandboxPath::new(PROGRAM)?, writable: false }.open_by_name()
}

async fn compile(inner: &Inner, source: Source<'_>, counts: bool) -> Result<Vec<u8>, SandboxError> {
    let failed = |reason: String| SandboxError::Failed {
        step: format!("compile the image `{}`", shortened(source.name)),
        reason,
    };
    let limits = inner.options.compile;
    let mut spec = SandboxSpec::new(limits);
    let image = Mount { from: source.root.to_owned(), to: SandboxPath::new(IMAGE)?, writable: false };
    spec.mounts = vec![program()?, image.open_by_name()?];
    let order = Compile { module: format!("{IMAGE}/{}", source.module), counts };
    let order = serde_json::to_string(&order).map_err(|error| failed(error.to_string()))?;
    let command = Command::new([PROGRAM, COMPILE, &order])?;
    let behind = inner.behind.id();
    let sandbox = inner.behind.create(spec).await.map_err(|error| outcome::named(error, behind))?;
    let done = async {
        let result = sandbox.exec(command).await.map_err(|error| outcome::named(error, behind))?;
        judged(&result, source.name, limits)?;
        sandbox
            .read_file(&SandboxPath::new(MADE)?, limits.disk.value)
            .await
            .map_err(|error| failed(error.to_string()))
    };
    let done = done.await;
    let ended = sandbox.terminate().await;
    let code = done?;
    ended.map_err(|error| outcome::named(error, behind))?;
    Ok(code.into())
}

/// What became of the compiler.
fn judged(result: &ExecResult, name: &str, limits: Limits) -> Result<(), SandboxError> {
    let refused =
        |why: String| SandboxError::File { path: shortened(name), why, code: ErrorCode::InvalidInput };
    let said = String::from_utf8_lossy(&result.stderr.bytes);
    let said: String = said.trim().trim_start_matches("bailiwick: wasm: ").chars().take(TOLD).collect();
    match result.exit {
        _ if result.timed_out => {
            Err(refused(format!("it could not be compiled within {:?}", limits.timeout.value)))
        }
        _ if result.oom => {
            let most = limits.memory.value >> 20;
            Err(refused(format!("it could not be compiled within {most} MiB of memory")))
        }
        Exit::Code(0) => Ok(()),
        Exit::Signal(signal) if End::of(signal) == Some(End::NotRunnable) => {
            Err(refused(format!("it is no program in WebAssembly that can be run here: {said}")))
        }
        exit => Err(SandboxError::Failed {
            step: format!("compile the image `{}`", shortened(name)),
            reason: format!("{exit:?}: {said}"),
        }),
    }
}
