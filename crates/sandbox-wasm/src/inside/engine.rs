//! The engine, set up the same way for whoever compiles and for whoever runs: what differs would not be read back.

use std::hash::{Hash as _, Hasher};

use sha2::{Digest as _, Sha256};
use wasmtime::{Config, Engine, OptLevel, Result};

use crate::hex::hex;

/// The stack of a guest: as much as a native program has.
const STACK: usize = 8 << 20;
/// The stack on which the engine runs a guest; what the engine itself needs is above the guest's.
const WHOLE_STACK: usize = STACK + (1 << 20);

/// An engine.
pub(crate) fn engine(counts: bool) -> Result<Engine> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .consume_fuel(counts)
        .max_wasm_stack(STACK)
        .async_stack_size(WHOLE_STACK)
        .wasm_exceptions(true)
        .concurrency_support(false)
        .generate_address_map(false)
        .cranelift_opt_level(OptLevel::Speed);
    Engine::new(&config)
}

/// A text for everything that compiled code depends on, but the module itself.
pub(crate) fn compatibility(counts: bool) -> Result<String> {
    let mut hasher = Hashed(Sha256::new());
    engine(counts)?.precompile_compatibility_hash().hash(&mut hasher);
    Ok(hex(&hasher.0.finalize()))
}

/// What is hashed goes to a hash that is the same tomorrow.
struct Hashed(Sha256);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
