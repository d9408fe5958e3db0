//! Credential helpers: programs of the operator's that know passwords, as `docker login` leaves them. One is asked about one
//! registry, and gets little: its name is a plain word, it is found on the operator's own path, it has a few variables, no more
//! than a moment, and what it says is bounded and never shown.
//!
//! This is the one program of the host that this crate starts. It is named by a file in the operator's home, and by nothing else.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use bailiwick_sys::clock::{Woken, wait_readable};
use bailiwick_sys::{Failed, pidfd};
use serde::Deserialize;
use zeroize::Zeroizing;

/// Variables that helpers need to find what they keep: the user's folders, a session's bus, a keyring, a cloud's profile.
pub const HELPERS_NEED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
    "DOCKER_CONFIG",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "CLOUDSDK_CONFIG",
    "AZURE_CONFIG_DIR",
];

/// How long one may take: it may have to ask a person to unlock something.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// The most that one says.
const MOST: u64 = 64 * 1024;
/// What helpers say of a registry that they know nothing about.
const UNKNOWN: &[u8] = b"credentials not found";

/// Why a helper told nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unhelpful {
    #[error("`{0}` is no name of a credential helper: letters, digits, `-`, `_` and `.` make one")]
    Name(String),
    #[error("docker-credential-{0} is not on the path")]
    Missing(String),
    #[error("docker-credential-{name} cannot be run: {why}")]
    Unrun { name: String, why: String },
    #[error("docker-credential-{name} {how}; run `docker-credential-{name} get` to see why")]
    Failed { name: String, how: String },
}

/// What a helper knows about a registry.
pub(super) struct Told {
    pub(super) user: String,
    pub(super) secret: Zeroizing<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Said {
    #[serde(default)]
    username: String,
    secret: String,
}

/// Asks one; none where it knows nothing about that registry.
pub(super) fn ask(
    name: &str,
    server: &str,
    variables: &[(String, OsString)],
    patience: Duration,
) -> Result<Option<Told>, Unhelpful> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(Unhelpful::Name(bailiwick_types::shortened(name)));
    }
    let program = found(name, variables).ok_or_else(|| Unhelpful::Missing(name.to_owned()))?;
    let unrun = |error: std::io::Error| Unhelpful::Unrun { name: name.to_owned(), why: error.to_string() };
    let failed = |how: &str| Unhelpful::Failed { name: name.to_owned(), how: how.to_owned() };
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator's own program, named by the operator's own file"
    )]
    let mut command = Command::new(program);
    command.arg("get").env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Ended(command.spawn().map_err(unrun)?);
    let (input, output) = (child.0.stdin.take(), child.0.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else { return Err(failed("has no streams")) };
    // One that does not read what it is asked ends all the same, and is told apart by that.
    let _unread = input.write_all(server.as_bytes());
    drop(input);
    let (tell, heard) = mpsc::sync_channel(1);
    // Whoever holds on to its output holds up this thread, and nobody else.
    std::thread::spawn(move || {
        let mut text = Zeroizing::new(Vec::new());
        let read = output.take(MOST + 1).read_to_end(&mut text).map(|_| text);
        let _nobody_waits = tell.send(read);
    });
    let text = match heard.recv_timeout(patience) {
        Err(_) => return Err(failed("said nothing in time")),
        Ok(read) => read.map_err(unrun)?,
    };
    if text.len() as u64 > MOST {
        return Err(failed("said too much"));
    }
    // It has closed its output: that it ends, too, is not waited for long.
    let status = child.wait(patience).map_err(unrun)?;
    match status {
        None => Err(failed("did not end in time")),
        Some(status) if status.success() => {
            let said: Said =
                serde_json::from_slice(&text).map_err(|_| failed("said nothing that is known"))?;
            Ok(Some(Told { user: said.username, secret: Zeroizing::new(said.secret) }))
        }
        Some(_) if text.starts_with(UNKNOWN) => Ok(None),
        Some(status) => Err(failed(&format!("ended with {status}"))),
    }
}

/// Where a helper is, by the path that it is given itself. What is relative there depends on where we are, and is passed over.
fn found(name: &str, variables: &[(String, OsString)]) -> Option<PathBuf> {
    let (_, path) = variables.iter().find(|(name, _)| name == "PATH")?;
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut programs = folders.map(|folder| folder.join(format!("docker-credential-{name}")));
    programs.find(|program| {
        program.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// A child that is ended when it is left.
struct Ended(Child);

impl Ended {
    /// Waits for its end, for so long at most.
    fn wait(&mut self, most: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
        let told = |failed: Failed| std::io::Error::from(failed.errno);
        let handle = pidfd::of_child(self.0.id()).map_err(told)?;
        loop {
            match wait_readable(&handle, Some(most)).map_err(told)? {
                Woken::Ready => return self.0.wait().map(Some),
                Woken::Late => return Ok(None),
                Woken::Interrupted => {}
            }
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and is reaped by the wait.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}
