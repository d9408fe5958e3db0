//! What sandboxes are called on the host: by the process that owns them, its start, and a number. So whoever comes later knows
//! whether the owner still lives, and another process of the same number is not taken for it.

use std::sync::atomic::{AtomicU64, Ordering};

use bailiwick_sandbox::SandboxError;

const LABEL: &str = "bailiwick-sandbox";

/// What the names of this process's sandboxes begin with.
fn ours() -> String {
    let pid = std::process::id();
    format!("{LABEL}-{pid}-{}", began(pid).unwrap_or(0))
}

/// The number of the next thing of this process that has a name. All backends count together: two sandboxes of one name would have
/// one cgroup, and the second of them no limits.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A name that says whose something is, and that nothing else has.
pub fn fresh() -> String {
    format!("{}-{}", ours(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// What an id is made from that nobody can guess: the time, in milliseconds, and chance.
pub fn random() -> Result<(u64, [u8; 10]), SandboxError> {
    let mut random = [0; 10];
    bailiwick_sys::clock::random(&mut random)
        .map_err(|errno| SandboxError::Failed { step: "make an id".to_owned(), reason: errno.to_string() })?;
    let now = bailiwick_sys::clock::realtime().as_millis();
    Ok((u64::try_from(now).unwrap_or_default(), random))
}

/// When a process was started, in ticks since the machine was.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of one line")]
fn began(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may hold anything but is followed by the last bracket.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

/// Whether something of this name belongs to a process that is gone.
pub fn is_left(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(LABEL).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let mut parts = rest.split('-').map(str::parse::<u64>);
    let (Some(Ok(pid)), Some(Ok(start)), Some(Ok(_)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    u32::try_from(pid).is_ok_and(|pid| began(pid) != Some(start))
}
