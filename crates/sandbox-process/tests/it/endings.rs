//! Endings: whatever becomes of a sandbox or its owner, nothing of it is left.

use std::path::PathBuf;

use bailiwick_sandbox::{Backend as _, SandboxError};
use bailiwick_testkit::tests;
use bailiwick_testkit_sandbox::{cgroups_of, processes_with};

use crate::place::{Place, sh, shell, wait};

tests!(
    a_keeper_that_is_killed_takes_its_sandboxes_along_and_the_next_is_made,
    a_future_that_is_dropped_leaves_nothing,
    a_command_that_kills_everybody_only_ends_itself,
    sandboxes_that_were_begun_ahead_are_like_others_and_end_with_their_keeper,
);

/// The cgroups of this process's sandboxes that are there now.
pub(crate) fn cgroups(of: u32) -> Vec<PathBuf> {
    cgroups_of(&format!("bailiwick-sandbox-{of}-"))
}

/// A number for `sleep` that nobody else uses.
pub(crate) fn mark(place: &Place) -> String {
    let name = place.path().display().to_string();
    let hash = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{}", 100_000 + hash % 900_000)
}

fn a_keeper_that_is_killed_takes_its_sandboxes_along_and_the_next_is_made() {
    let place = Place::new();
    let mark = mark(&place);
    wait(async {
        let sandbox = place.sandbox().await;
        sh(sandbox.as_ref(), &format!("sleep {mark} >/dev/null 2>&1 & echo on")).await;
        let keeper = keeper_of_this_backend(&mark).expect("a keeper");
        let keeper = rustix::process::Pid::from_raw(keeper).expect("a pid");
        rustix::process::kill_process(keeper, rustix::process::Signal::KILL).expect("killed");
        let error = loop {
            match sandbox.exec(shell("true")).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(matches!(error, SandboxError::Gone { .. }), "{error}");
        let next = loop {
            // The host hears of the end a moment later.
            match place.create(crate::place::spec()).await {
                Ok(next) => break next,
                Err(error) => assert!(matches!(error, SandboxError::Unavailable { .. }), "{error}"),
            }
        };
        assert_eq!(sh(next.as_ref(), "echo new").await, "new\n");
    });
}

/// The keeper above the process with this mark: its parent's parent, or one further up.
fn keeper_of_this_backend(mark: &str) -> Option<i32> {
    let mut pid = *processes_with(mark).first()?;
    for _ in 0..5 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        pid = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let parent = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let above: u32 = parent.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        if line.starts_with("bailiwick-keeper") && above == std::process::id() {
            return Some(pid);
        }
    }
    None
}

fn a_future_that_is_dropped_leaves_nothing() {
    let place = Place::new();
    wait(async {
        for polls in 0..40 {
            let mut making = Box::pin(place.create(crate::place::spec()));
            for _ in 0..polls {
                if futures_poll(making.as_mut()).await.is_ready() {
                    break;
                }
            }
            drop(making);
        }
        place.backend.close().await;
    });
    // Whoever runs beside this has its own; what is of this test's backend is gone with its keeper.
    let keepers: Vec<i32> =
        processes_with("bailiwick-keeper").into_iter().filter(|pid| is_ours(*pid)).collect();
    assert_eq!(keepers, Vec::<i32>::new());
}

/// Whether a process is a child of this one.
fn is_ours(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let parent =
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
    parent == Some(std::process::id())
}

/// Polls once, after letting others run.
async fn futures_poll<T>(
    future: std::pin::Pin<&mut (impl Future<Output = T> + ?Sized)>,
) -> std::task::Poll<T> {
    tokio::task::yield_now().await;
    let mut future = Some(future);
    std::future::poll_fn(move |context| {
        let polled = future.take().map(|future| future.poll(context));
        std::task::Poll::Ready(polled.unwrap_or(std::task::Poll::Pending))
    })
    .await
}

fn a_command_that_kills_everybody_only_ends_itself() {
    let place = Place::new();
    wait(async {
        let sandbox = place.sandbox().await;
        for text in ["kill -9 -1", "kill -9 1; kill -TERM 1; kill -STOP 1; kill -9 0"] {
            let result = sandbox.exec(shell(text)).await.expect("an end");
            assert!(!result.timed_out, "{text}");
        }
        assert_eq!(sh(sandbox.as_ref(), "echo alive").await, "alive\n");
    });
}

fn sandboxes_that_were_begun_ahead_are_like_others_and_end_with_their_keeper() {
    let place = Place::new();
    wait(async {
        // From the third on they are begun before they are asked for.
        for number in 0..6_u64 {
            let mut spec = crate::place::spec();
            spec.limits.disk.value = (4 + number) << 20;
            spec.workdir = crate::place::path(&format!("/here/{number}"));
            let sandbox = place.create(spec).await.expect("a sandbox");
            let told =
                sh(sandbox.as_ref(), "pwd; df -k --output=size /tmp | tail -n 1; ls -A / | tr '\\n' ' '")
                    .await;
            let size = (4 + number) << 10;
            let mut lines = told.lines();
            assert_eq!(lines.next(), Some(format!("/here/{number}").as_str()));
            assert_eq!(lines.next().map(str::trim), Some(size.to_string().as_str()));
            assert!(lines.next().is_some_and(|names| !names.contains(".old")), "{told}");
            assert!(!sandbox.receipt().insecure, "{:?}", sandbox.receipt());
        }
        place.backend.close().await;
    });
}
