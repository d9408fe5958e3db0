//! Runs a program of `approvals.notify`: the operator's own, by its whole path, with a question on its input.
//!
//! No shell, no arguments, nothing of our environment but `PATH`, and not for longer than it is given. It is the one
//! program that is started outside a sandbox; nothing that a caller says chooses it or stands on its command line.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// Runs it to its end; an error says why it was not told.
pub(super) async fn run(path: &Path, text: &str, patience: Duration) -> Result<(), String> {
    let mut child = command(path).spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let input = child.stdin.take();
    let told = async {
        if let Some(mut input) = input {
            match input.write_all(text.as_bytes()).await {
                // It need not read what it is told.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
                _ => drop(input),
            }
        }
        child.wait().await
    };
    let ended = timeout(patience, told).await;
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("it ended with {status}")),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => {
            child.kill().await.map_err(|error| format!("it cannot be ended: {error}"))?;
            Err(format!("it did not end within {} seconds", patience.as_secs()))
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the operator names this program in their own file, to be told of questions; no guest has a say in it"
)]
fn command(path: &Path) -> Command {
    let mut command = std::process::Command::new(path);
    command.env_clear().current_dir("/");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut command = Command::from(command);
    command.kill_on_drop(true);
    command
}
