//! The standard input of a command.

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;

use tokio::net::unix::pipe::Receiver;
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::cli::AsyncStdinStream;

/// Hands the standard input of this process to a guest: a pipe without a thread that waits for it, a terminal with one, and
/// nothing where there is neither.
pub(crate) fn hand(given: &mut WasiCtxBuilder) {
    let own = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3).map_err(io::Error::from);
    match own.and_then(Receiver::from_owned_fd) {
        Ok(pipe) => {
            given.stdin(AsyncStdinStream::new(pipe));
        }
        Err(_) if io::stdin().is_terminal() => {
            given.inherit_stdin();
        }
        Err(_) => {}
    }
}
