//! Compiled code, read back: the one call of the engine that cannot be checked. It is made behind the wall only, on a file that the host
//! keeps in a folder of its own and that was made behind such a wall from the very module that it is named after. So code that is not what
//! it should be has the walls of its own sandbox around it, and nobody else's program in it.
#![expect(unsafe_code, reason = "the engine marks reading compiled code as unsafe: it is run as it is")]

use std::path::Path;

use wasmtime::component::Component;
use wasmtime::{Engine, Module, Precompiled, Result};

/// A program that was compiled.
pub(crate) enum Program {
    /// A module: WASI 0.1.
    Module(Module),
    /// A component: WASI 0.2.
    Component(Component),
}

/// Reads one back. The engine looks whether it was made by such an engine as this one, and on such a machine.
pub(crate) fn read_back(engine: &Engine, path: &Path) -> Result<Option<Program>> {
    let program = match Engine::detect_precompiled_file(path)? {
        Some(Precompiled::Module) => {
            // SAFETY: the file is one that the engine made, and read-only for this process and whoever else is behind the wall.
            let module = unsafe { Module::deserialize_file(engine, path) };
            Program::Module(module?)
        }
        Some(Precompiled::Component) => {
            // SAFETY: as above.
            let component = unsafe { Component::deserialize_file(engine, path) };
            Program::Component(component?)
        }
        None => return Ok(None),
    };
    Ok(Some(program))
}
