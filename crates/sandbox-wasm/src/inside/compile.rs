//! From a module to code. Its bounds are those of the sandbox that this runs in: how much memory, how long, how much it writes.

use std::os::fd::AsFd as _;
use std::path::Path;

use bailiwick_sys::beneath;

use super::{Ended, engine};
use crate::order::{Compile, End, MADE};

/// Compiles a module or a component, and puts it where the host reads it.
pub(crate) fn compile(order: &Compile) -> Ended {
    match made(order) {
        Ok(()) => Ended::Code(0),
        Err(ended) => ended,
    }
}

fn made(Compile { module, counts }: &Compile) -> Result<(), Ended> {
    let ours = |why: &dyn std::fmt::Display| Ended::By(End::OurFault, why.to_string());
    let engine = engine::engine(*counts).map_err(|error| ours(&error))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the sandbox that this runs in bounds how much memory it can take"
    )]
    let bytes = std::fs::read(module).map_err(|error| ours(&error))?;
    // The first eight bytes tell a module from a component: a version, and which of the two.
    let is_component = bytes.get(6..8).is_some_and(|layer| layer == [1, 0]);
    let compiled =
        if is_component { engine.precompile_component(&bytes) } else { engine.precompile_module(&bytes) };
    let compiled = compiled.map_err(|error| Ended::By(End::NotRunnable, told(&error)))?;
    write(&compiled).map_err(|error| ours(&error))
}

fn write(compiled: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let place = Path::new(MADE);
    let (Some(folder), Some(name)) = (place.parent(), place.file_name().and_then(std::ffi::OsStr::to_str))
    else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let folder = beneath::hold(folder)?;
    let name = std::ffi::CString::new(name)?;
    beneath::create(folder.as_fd(), &name)?.write_all(compiled)
}

/// An error of the engine's with what caused it, in one line.
pub(super) fn told(error: &wasmtime::Error) -> String {
    let causes: Vec<String> = error.chain().map(|cause| cause.to_string().replace('\n', " ")).collect();
    causes.join(": ")
}
