//! Making a sandbox: the image, its compiled code, a sandbox of the backend behind, and what holds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bailiwick_sandbox::{
    Image, Limits, Mount, Sandbox, SandboxError, SandboxPath, SandboxSpec, Unpacked, judge,
};
use bailiwick_types::Tier;

use super::backend::Inner;
use super::compile::{self, Source};
use super::sandbox::{Parts, WasmSandbox};
use super::view::View;
use super::{module, nothing, outcome, report};
use crate::ID;
use crate::order::{COMPILED, IMAGE};

/// How much later than the engine's own deadline a command is ended from outside.
pub(crate) const LAST: Duration = Duration::from_millis(20);
/// Memory that the engine's host takes beside what its guest holds.
pub(crate) const OVERHEAD: u64 = 32 << 20;
/// Threads of the engine's host: one computes, one waits for the deadline, and one for a terminal if there is one.
const THREADS: u32 = 3;

/// What a sandbox is made from.
#[derive(Debug)]
pub(crate) struct Material<'a> {
    /// The root of its image, with no link on the way.
    pub(crate) root: &'a Path,
    /// The compiled code.
    pub(crate) code: &'a Path,
}

/// Makes a sandbox, or refuses and leaves nothing behind.
pub(crate) async fn create(inner: &Arc<Inner>, spec: SandboxSpec) -> Result<Box<dyn Sandbox>, SandboxError> {
    spec.check()?;
    let (name, image): (_, Arc<dyn Unpacked>) = match (&spec.image, &inner.options.images) {
        (Image::Named(name), _) if name == nothing::NAME => (name, nothing::image(&inner.options.state)?),
        (Image::Named(name), Some(images)) => (name, images.find(name).await?),
        _ => return Err(SandboxError::Unsupported { backend: ID.to_owned(), what: "that image".to_owned() }),
    };
    let top = module::top(name, &image.root())?;
    let view = View::new(&spec, &top.folders)?;
    let source = Source { name, digest: image.digest(), root: &top.root, module: &top.module };
    let code = compile::compiled(inner, source).await?;
    let theirs = behind(inner, &spec, &Material { root: &top.root, code: &code })?;
    let id = inner.behind.id();
    let sandbox = inner.behind.create(theirs).await.map_err(|error| outcome::named(error, id))?;
    finish(inner, sandbox, Given { spec, view, image }).await
}

/// What was asked for, and what it is made from.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) spec: SandboxSpec,
    pub(crate) view: View,
    pub(crate) image: Arc<dyn Unpacked>,
}

/// Looks at what holds, and gives the sandbox if that is what is demanded.
pub(crate) async fn finish(
    inner: &Arc<Inner>,
    sandbox: Box<dyn Sandbox>,
    Given { spec, view, image }: Given,
) -> Result<Box<dyn Sandbox>, SandboxError> {
    let report = report::on(&spec, inner.options.fuel, &sandbox.receipt().walls);
    let accepted = match judge(&spec, &report, &inner.options.accept) {
        Ok(accepted) => accepted,
        Err(unheld) => {
            sandbox.terminate().await?;
            return Err(bailiwick_sandbox::unenforceable(ID, &spec, &unheld, &[]));
        }
    };
    let receipt = bailiwick_sandbox::receipt(Tier::UserKernel, &spec, &report);
    let parts = Parts { backend: inner.clone(), spec, view, image, receipt, warnings: accepted.warnings };
    Ok(Box::new(WasmSandbox::new(sandbox, parts)))
}

/// The sandbox behind: the same but for its image, what of ours is in it, and what our part needs.
pub(crate) fn behind(
    inner: &Inner,
    spec: &SandboxSpec,
    Material { root, code }: &Material<'_>,
) -> Result<SandboxSpec, SandboxError> {
    let mount = |from: &Path, to: &str| {
        Mount { from: from.to_owned(), to: SandboxPath::new(to)?, writable: false }.open_by_name()
    };
    let mut theirs = spec.clone();
    theirs.image = Image::Host;
    // A guest's variables come with the order of each command.
    theirs.env.clear();
    theirs.snapshot = spec.snapshot.as_ref().map(|snapshot| outcome::to_behind(snapshot, inner.behind.id()));
    theirs.mounts.extend([compile::program()?, mount(root, IMAGE)?, mount(code, COMPILED)?]);
    theirs.limits = limits(spec.limits);
    Ok(theirs)
}

/// What the sandbox behind may use: what the guest may, and what our part needs for it.
fn limits(mut limits: Limits) -> Limits {
    limits.disk.value = limits.scratch();
    limits.memory.value = limits.memory.value.saturating_add(OVERHEAD);
    limits.timeout.value = limits.timeout.value.saturating_add(LAST);
    limits.processes.value = limits.processes.value.saturating_mul(THREADS);
    limits
}
