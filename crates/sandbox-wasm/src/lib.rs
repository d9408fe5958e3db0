//! The backend `wasm`: programs in WebAssembly, run by Wasmtime behind the walls of another backend.
//!
//! **Two walls, one in the other.** The engine compiles a stranger's program to native code, and a mistake of a compiler is a hole.
//! So no byte of a guest meets the engine in the server: every command is a process in a sandbox of the backend *behind* (any
//! [`bailiwick_sandbox::Backend`]; the program uses `process`), which is this program started again as the engine's host ([`enter`]). The guest sees
//! what the engine gives it: arguments, variables, streams, the folders that are opened for it, clocks and random numbers, and
//! no socket. What gets out of the engine is in a jail that has no network, a bound on everything, and nothing of the operator's.
//! Ending a command is killing a process, from outside. Between commands there is no engine at all, so an idle sandbox costs what
//! one of the backend behind costs, and the state of its files is all of its state: snapshots, forks and resets are those of the
//! backend behind. A snapshot of linear memory is not offered: a command has no point at which the engine could promise that all
//! of its state is in there (open files, streams and timers are outside).
//!
//! **An image** is a name that ends with `.wasm` (before a tag), of an image in the store with exactly one `*.wasm` at its top: a module
//! that exports `_start` (WASI 0.1) or a component that exports `wasi:cli/run` (WASI 0.2). Its folders are what the guest finds at the same places,
//! read-only. Which images there are is for the operator's store to say, as with every backend.
//!
//! **A command**: the first word is what the program is told its name is; any word will do. There is no shell.
//!
//! **How it ends**: by its own exit code. A trap is SIGABRT (134), with a line about it in its standard error; a deadline or the
//! end of its fuel is `timedOut`; a trap after memory was refused is `oom`; what cannot be begun (an import that nothing
//! here gives, no `_start`) is 126. The engine's host tells these apart by real-time signals, which no guest can send.
//!
//! **Compiled code** is made in a sandbox, too, kept in a folder that only this user can write to, and named after the digest of the image
//! and everything that the engine says it depends on. It is read back by `raw.rs`, the only unsafe call, and only behind the wall.
//!
//! This crate decides nothing, and must never run or compile a guest in the process that it is called in. Start reading at
//! `host/backend.rs`, then `host/create.rs`; what runs behind the wall is in `inside/`.

mod enter;
mod hex;
mod host;
mod inside;
mod order;
mod raw;

pub use enter::{enter, enter_with};
pub use host::{Options, WasmBackend};

/// The name of this backend.
pub(crate) const ID: &str = "wasm";
