//! Runs something again whenever a file below some paths is saved, until Ctrl-C.
//!
//! The files are looked at five times a second: by their time and size, so that a save by renaming counts too.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::signal::unix::{SignalKind, signal};

use super::test::Passes;
use crate::failure::Failure;
use crate::render::Screen;
use crate::targets;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_millis(200);

/// What is known of a file without reading it.
type Stamp = (PathBuf, Option<(SystemTime, u64)>);

/// Runs `run` now and after each save.
pub(super) async fn watch(
    screen: &mut Screen,
    paths: &[PathBuf],
    run: impl AsyncFn(&mut Screen) -> Result<Passes, Failure>,
) -> Result<u8, Failure> {
    let mut interrupted = signal(SignalKind::interrupt()).map_err(Failure::Signals)?;
    // What is not there at the beginning is a slip of the keyboard; what is gone later may come back.
    targets::files_below(paths)?;
    loop {
        let before = stamps(paths);
        tokio::select! {
            _ = interrupted.recv() => return Ok(0),
            passes = run(screen) => match passes {
                Ok(passes) => drop(passes.tell_end(screen)),
                Err(failure) => drop(screen.failure(&failure)),
            }
        }
        screen.show_now();
        screen.note("watching; Ctrl-C ends it");
        tokio::select! {
            _ = interrupted.recv() => return Ok(0),
            () = changed(paths, &before) => {}
        }
    }
}

async fn changed(paths: &[PathBuf], before: &[Stamp]) {
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        ticks.tick().await;
        if stamps(paths) != before {
            return;
        }
    }
}

/// Every file below the paths as it is now; one that cannot be found or looked at has no stamp, and that is a change too.
fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    let files = targets::files_below(paths).unwrap_or_default();
    let stamp = |path: PathBuf| {
        let metadata = std::fs::metadata(&path).ok();
        let known = metadata.and_then(|metadata| Some((metadata.modified().ok()?, metadata.len())));
        (path, known)
    };
    files.into_iter().map(stamp).collect()
}
