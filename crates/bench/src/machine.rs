//! The machine the figures are from.

use serde_json::{Value, json};

/// What a reader of figures has to know.
pub(crate) fn describe() -> Value {
    json!({
        "processor": processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        "cores": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "kernel": first_line("/proc/sys/kernel/osrelease").unwrap_or_default(),
        "user": if bailiwick_sys::privileges::identity().0 == 0 { "root" } else { "ordinary" },
        "version": env!("CARGO_PKG_VERSION"),
        "build": if cfg!(debug_assertions) { "debug: figures of a debug build say little" } else { "release" },
    })
}

fn processor() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

fn first_line(path: &str) -> Option<String> {
    read(path).and_then(|text| text.lines().next().map(str::to_owned))
}

/// A file of the kernel.
#[expect(clippy::disallowed_methods, reason = "a small file of the kernel, for a figure")]
pub(crate) fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}
