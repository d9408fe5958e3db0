//! Signals by name, as results tell them. The numbers are Linux's own, the same on every machine that it runs on today.

const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The name of a signal: `SIGKILL`; `SIG40` for one that has none.
pub fn signal_name(signal: i32) -> String {
    let named =
        usize::try_from(signal).ok().and_then(|n| n.checked_sub(1)).and_then(|index| NAMES.get(index));
    named.map_or_else(|| format!("SIG{signal}"), |name| (*name).to_owned())
}

/// The signal of a name: `SIGKILL`, `KILL`, `SIG40`.
pub fn signal_number(name: &str) -> Option<i32> {
    let bare = name.strip_prefix("SIG").unwrap_or(name);
    let named = NAMES.iter().position(|known| known.strip_prefix("SIG") == Some(bare));
    match named {
        Some(index) => i32::try_from(index).ok()?.checked_add(1),
        None => bare.parse().ok().filter(|number| (1..=64).contains(number)),
    }
}
