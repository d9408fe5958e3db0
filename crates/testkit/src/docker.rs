//! The Docker of the tests: the one that `make engine` starts, or the one whose socket somebody names. Never this machine's own
//! without being told.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names the socket of a Docker that tests may use.
const NAMED: &str = "BAILIWICK_DOCKER";

/// Its socket, if it answers.
#[expect(clippy::disallowed_methods, reason = "read by tests only, which have no settings")]
pub fn socket() -> Option<PathBuf> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/engine/docker.sock");
    let socket = std::env::var_os(NAMED).map_or_else(usual, PathBuf::from);
    let socket = socket.canonicalize().ok()?;
    answers(&socket).then_some(socket)
}

/// Whether an engine answers at this socket.
pub fn answers(socket: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket) else { return false };
    let is_patient = stream.set_read_timeout(Some(Duration::from_secs(5))).is_ok();
    if !is_patient || stream.write_all(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n").is_err() {
        return false;
    }
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).is_ok() && answer.ends_with(b" 200")
}
