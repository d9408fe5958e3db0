//! What tests ask of a sandbox, in few words.

use std::future::Future;

use bailiwick_sandbox::{Command, ExecResult, Sandbox, SandboxPath};

/// Runs to the end.
pub fn wait<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(doing)
}

/// A path inside.
pub fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).expect("a path")
}

/// A command of words.
pub fn words(words: &[&str]) -> Command {
    Command::new(words.iter().copied()).expect("a command")
}

/// A text for the shell.
pub fn shell(text: &str) -> Command {
    Command::shell(text).expect("a command")
}

/// What a command says, if it ends well.
#[track_caller]
pub fn said(result: &ExecResult) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(result.exit.status(), 0, "{} {}", text(&result.stdout.bytes), text(&result.stderr.bytes));
    text(&result.stdout.bytes)
}

/// Runs a text in a sandbox and gives what it says.
pub async fn sh(sandbox: &dyn Sandbox, text: &str) -> String {
    said(&sandbox.exec(shell(text)).await.expect("it runs"))
}

/// Starts something that counts, and goes on when the command that started it has ended.
pub async fn count(sandbox: &dyn Sandbox) {
    let counting = "setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n > /work/next; mv /work/next /work/count; sleep 0.05; done' \
                    >/dev/null 2>&1 & while [ ! -e /work/count ]; do sleep 0.05; done; echo on";
    sh(sandbox, counting).await;
}

/// Waits until what counts goes on.
pub async fn counts_on(sandbox: &dyn Sandbox) {
    let on = "n=$(cat /work/count); while [ $(cat /work/count) -le $n ]; do sleep 0.05; done; echo on";
    assert_eq!(sh(sandbox, on).await, "on\n");
}
