//! `bailiwick own`: holds the data folder until a signal comes, so that other commands go through this process.

use bailiwick::Breadth;
use bailiwick_core::{Desk, Presence};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::cells::{block_on, builder};
use crate::desk::opening;
use crate::failure::Failure;
use crate::render::{Screen, plain, strong, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::Own;

/// Cells kept ready for those who come.
const PARKED: usize = 4;

/// `bailiwick own`
pub(crate) fn own(screen: &mut Screen, session: &Session, what: &Own) -> Result<u8, Failure> {
    session.here_only("a data folder is held on this machine", "leave out the server")?;
    let cells =
        builder(&what.cells, Breadth::Ordinary, Some(&session.loaded.settings.baseline)).parked(PARKED);
    let opening = opening(session, cells, Presence::Holding)?;
    block_on(async {
        let desk = Desk::open(opening).await?;
        // Heard from before the line is there, since whoever reads it may send one at once.
        let mut ended = signal(SignalKind::terminate()).map_err(Failure::Signals)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(Failure::Signals)?;
        let folder = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
        if !desk.is_owner() {
            return Err(Failure::Argument {
                message: format!("another process owns {}", folder.display()),
                hint: "there is nothing to do: commands find it by themselves".to_owned(),
            });
        }
        let (shown, pid) = (folder.display().to_string(), std::process::id());
        if screen.wants_json() {
            screen.json_line(&json!({"owns": shown, "pid": pid}));
        } else {
            screen.line(&[strong("owns "), plain(&shown), plain(&format!(" (pid {pid})"))]);
        }
        screen.show_now();
        tokio::select! {
            _ = ended.recv() => {}
            _ = interrupted.recv() => {}
        }
        for trouble in desk.close().await? {
            to_stderr(&[warning("warning: "), plain(&trouble)]);
        }
        Ok(0)
    })
}
