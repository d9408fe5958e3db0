//! `bailiwick doctor`: which walls stand on this machine, seen by trying to break them.

mod backends;
mod measure;

use std::time::Instant;

use bailiwick::types::{WallStatus, Wallpart};
use bailiwick::{Breadth, Call, Options, Probe, ProbeResult, Runtime, StartError, Tenant, seccomp};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::backends::{Known, Which};
use crate::cells::{block_on, builder};
use crate::failure::Failure;
use crate::render::{Screen, Span, bad, faint, good, plain, strong, warning};
use crate::resolved::Session;
use crate::typed::Doctor;

/// System calls that a cell tries, one cell each: files, sockets, processes, code, devices, other namespaces.
const TRIED: &[&str] = &[
    "openat",
    "openat2",
    "socket",
    "connect",
    "execve",
    "clone",
    "clone3",
    "ptrace",
    "kill",
    "tgkill",
    "mprotect",
    "ioctl",
    "sendmsg",
    "mount",
    "unshare",
    "setns",
    "bpf",
    "io_uring_setup",
    "userfaultfd",
    "memfd_create",
    "process_vm_readv",
    "keyctl",
    "perf_event_open",
    "prctl",
    "seccomp",
];

/// Calls that are timed.
const TIMED: usize = 101;

/// What was seen.
struct Seen {
    walls: Vec<Wallpart>,
    missing: Vec<String>,
    /// What was tried, and whether the wall held.
    tried: Vec<(&'static str, bool)>,
    latency_us: u64,
}

/// `bailiwick doctor`
///
/// It works where the settings are broken, too: then backends are looked at as the program ships.
pub(crate) fn doctor(screen: &mut Screen, session: Option<&Session>, what: &Doctor) -> Result<u8, Failure> {
    let (known, _folder) = backends_of(session)?;
    let which = match &what.backend {
        Some(name) => Which::One(name),
        None if what.all => Which::All,
        None => Which::Listed,
    };
    let (seen, sandboxes) = block_on(async {
        let sandboxes = backends::look(known, which).await?;
        let seen = cells(what).await?;
        Ok((seen, sandboxes))
    })?;
    match seen {
        Ok(seen) => Ok(tell(screen, &seen, &sandboxes, what.fix)),
        Err(error) => Ok(tell_none(screen, &error, &sandboxes, what.fix)),
    }
}

/// The backends that there are, and the folder they need where there is no other.
fn backends_of(session: Option<&Session>) -> Result<(Known, Option<TempDir>), Failure> {
    if let Some(session) = session.filter(|session| session.loaded.data_folder.is_some()) {
        let listed = session.loaded.settings.sandbox.backends.clone();
        return Ok((Known { all: crate::backends::known(session)?, listed }, None));
    }
    let folder = tempfile::tempdir().map_err(|source| Failure::Measure { what: "sandboxes", source })?;
    let (all, listed) = bailiwick_backends::as_shipped(folder.path())?;
    Ok((Known { all, listed }, Some(folder)))
}

async fn cells(what: &Doctor) -> Result<Result<Seen, StartError>, Failure> {
    let builder = builder(&what.cells, Breadth::All, None).parked(8).memory(Options::default().memory);
    match builder.build().await {
        Ok(runtime) => look(&runtime).await.map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

async fn look(runtime: &Runtime) -> Result<Seen, Failure> {
    let tenant = Tenant::default();
    let walls = runtime.walls(&tenant).await?;
    let missing = runtime.missing(&tenant).await?;
    let mut tried = Vec::new();
    for name in TRIED {
        let Some(number) = seccomp::number(name) else { continue };
        let result = runtime.probe(Probe::SystemCall { number, arguments: [0; 6] }).await?;
        tried.push((*name, matches!(result, ProbeResult::Trapped(_))));
    }
    let mut times = Vec::with_capacity(TIMED);
    for _ in 0..TIMED {
        let started = Instant::now();
        runtime.run(Call::body("return 40 + 2")).await?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let median = times.get(TIMED / 2).copied().unwrap_or_default();
    Ok(Seen { walls, missing, tried, latency_us: u64::try_from(median.as_micros()).unwrap_or(u64::MAX) })
}

fn tell(screen: &mut Screen, seen: &Seen, sandboxes: &[backends::Seen], wants_fixes: bool) -> u8 {
    let Seen { walls, missing, tried, latency_us } = seen;
    let through: Vec<&str> = tried.iter().filter(|(_, held)| !held).map(|(name, _)| *name).collect();
    if screen.wants_json() {
        let tried: Vec<Value> =
            tried.iter().map(|(name, held)| json!({"systemCall": name, "trapped": held})).collect();
        let fixes: Vec<Value> =
            fixes(walls).iter().map(|(demand, fix)| json!({"demand": demand, "fix": fix})).collect();
        screen.json(&json!({
            "cells": {
                "available": true, "walls": walls, "missing": missing, "tried": tried,
                "parkedLatencyUs": latency_us, "fixes": fixes,
            },
            "backends": backends::to_json(sandboxes),
        }));
    } else {
        screen.line(&[strong("Cells"), faint("  (JavaScript, one process per call)")]);
        for Wallpart { demand, mechanism, status } in walls {
            let demand = format!("{demand:<30}");
            screen.line(&[plain("  "), status_word(*status), plain(&demand), faint(mechanism)]);
        }
        screen.line(&[]);
        let held = tried.len() - through.len();
        let summary =
            format!("  {held} of {} forbidden system calls tried from inside were stopped", tried.len());
        screen.line(&[plain(&summary)]);
        for name in &through {
            screen.line(&[bad("  went through: "), plain(name)]);
        }
        screen
            .line(&[plain(&format!("  a call in a parked cell takes {latency_us} µs (median of {TIMED})"))]);
        for (what, fix) in fixes(walls) {
            screen.line(&[warning("  to have "), plain(what), plain(": "), plain(fix)]);
        }
        for reason in missing {
            screen.line(&[faint("  could not be had: "), faint(reason)]);
        }
        backends::tell(screen, sandboxes, wants_fixes);
    }
    if through.is_empty() { 0 } else { 5 }
}

fn status_word(status: WallStatus) -> Span<'static> {
    match status {
        WallStatus::Enforced => good("stands   "),
        WallStatus::Partial => warning("in part  "),
        WallStatus::Absent => bad("absent   "),
    }
}

/// What is not there, and how to get it.
fn fixes(walls: &[Wallpart]) -> Vec<(&str, &'static str)> {
    walls
        .iter()
        // A mechanism that is missing is named in brackets, also where another one holds the demand alone.
        .filter(|wall| wall.mechanism.contains("(no "))
        .map(|wall| {
            let fix = match wall.demand.as_str() {
                "memory of all calls together" => {
                    "run as root, or in a delegated cgroup (systemd-run --user --scope -p Delegate=yes)"
                }
                "no other system calls" => {
                    "a kernel with CONFIG_SECCOMP_FILTER; in a container, allow seccomp()"
                }
                _ => {
                    "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone; in a \
                     container, a seccomp profile that allows clone with namespaces, or root with CAP_SYS_ADMIN"
                }
            };
            (wall.demand.as_str(), fix)
        })
        .collect()
}

fn tell_none(screen: &mut Screen, error: &StartError, sandboxes: &[backends::Seen], wants_fixes: bool) -> u8 {
    let (reason, fix) = (error.to_string(), error.hint());
    if screen.wants_json() {
        let cells =
            json!({"available": false, "walls": [], "parkedLatencyUs": null, "reason": reason, "fix": fix});
        screen.json(&json!({"cells": cells, "backends": backends::to_json(sandboxes)}));
    } else {
        screen.line(&[strong("Cells"), bad("  not available: "), plain(&reason)]);
        screen.line(&[plain("  "), plain(fix)]);
        backends::tell(screen, sandboxes, wants_fixes);
    }
    error.code().class().exit_code()
}
