//! What the agent itself has that a guest of the same user may change, and that every later command would inherit: limits,
//! priorities, the processors it may use.

use bailiwick_sys::{Errno, priority};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::text;

const LIMITS: &[(Resource, &str)] = &[
    (Resource::As, "address space"),
    (Resource::Core, "core files"),
    (Resource::Cpu, "processor time"),
    (Resource::Data, "data"),
    (Resource::Fsize, "size of files"),
    (Resource::Locks, "locks"),
    (Resource::Memlock, "locked memory"),
    (Resource::Msgqueue, "message queues"),
    (Resource::Nice, "nice values"),
    (Resource::Nofile, "open files"),
    (Resource::Nproc, "processes"),
    (Resource::Rss, "resident memory"),
    (Resource::Rtprio, "real-time priorities"),
    (Resource::Rttime, "real-time processor time"),
    (Resource::Sigpending, "waiting signals"),
    (Resource::Stack, "stack"),
];

/// What others may have changed of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ours {
    pub(super) limits: Vec<Rlimit>,
    processors: Result<CpuSet, Errno>,
    nice: Result<i32, Errno>,
    pub(super) io: Result<i64, Errno>,
    policy: Result<Vec<u8>, Errno>,
    oom: Result<Vec<u8>, Errno>,
    folder: Result<Vec<u8>, Errno>,
    mask: u32,
}

impl Ours {
    pub(super) fn look() -> Self {
        let mask = rustix::process::umask(rustix::fs::Mode::empty());
        rustix::process::umask(mask);
        Self {
            limits: LIMITS.iter().map(|(resource, _)| getrlimit(*resource)).collect(),
            processors: sched_getaffinity(None),
            nice: rustix::process::getpriority_process(None),
            io: priority::io(),
            policy: text::of("/proc/self/stat").map(|text| policy(&text)),
            oom: text::of("/proc/self/oom_score_adj"),
            folder: rustix::process::getcwd(Vec::new()).map(std::ffi::CString::into_bytes),
            mask: mask.as_raw_mode(),
        }
    }

    /// Makes it as it was, as far as that may be done. What could not is found by looking.
    pub(super) fn put_back(&self) {
        for ((resource, _), limit) in LIMITS.iter().zip(&self.limits) {
            if getrlimit(*resource) != *limit {
                let _looked_at_later = setrlimit(*resource, *limit);
            }
        }
        if let Ok(processors) = &self.processors
            && sched_getaffinity(None).as_ref() != Ok(processors)
        {
            let _looked_at_later = sched_setaffinity(None, processors);
        }
        if let Ok(io) = self.io
            && priority::io() != Ok(io)
        {
            let _looked_at_later = priority::set_io(io);
        }
    }

    /// What is not as it was, in words.
    pub(super) fn changed(&self, now: &Self) -> Vec<String> {
        let Self { limits, processors, nice, io, policy, oom, folder, mask } = self;
        let mut left = Vec::new();
        for ((_, name), (then, now)) in LIMITS.iter().zip(limits.iter().zip(&now.limits)) {
            if then != now {
                left.push(format!("another limit on {name}"));
            }
        }
        for (is_same, words) in [
            (*processors == now.processors, "other processors to run on"),
            (*nice == now.nice, "another nice value"),
            (*io == now.io, "another priority of input and output"),
            (*policy == now.policy, "another scheduling policy"),
            (*oom == now.oom, "another place in the order of whom the kernel ends without memory"),
            (*folder == now.folder, "another working folder"),
            (*mask == now.mask, "another mask of permissions"),
        ] {
            if !is_same {
                left.push(words.to_owned());
            }
        }
        left
    }
}

/// The real-time priority and the scheduling policy out of what `/proc` says of a process.
fn policy(stat: &[u8]) -> Vec<u8> {
    let end = stat.iter().rposition(|byte| *byte == b')').unwrap_or(0);
    let words = stat.get(end..).unwrap_or_default().split(|byte| *byte == b' ');
    // Counted from the state, which comes first behind the bracket.
    words.skip(1 + 37).take(2).flat_map(|word| word.iter().copied().chain([b' '])).collect()
}
