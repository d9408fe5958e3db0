//! `bailiwick mcp` alone: a server for the program that started it, over its standard streams.
//!
//! It asks the process that owns the data folder, a running `bailiwick serve` as a rule, or owns the folder itself while
//! there is none. Whoever is at the other end may call published tools and nothing else. Nothing but messages of the
//! protocol is written to stdout.

use std::sync::Arc;

use bailiwick::Breadth;
use bailiwick_core::{Actor, Admitted, Desk, Dialogue, Presence};
use bailiwick_types::{Scope, Scopes};
use tokio_util::sync::CancellationToken;

use crate::cells::builder;
use crate::commands::serve::preset::Preset;
use crate::commands::serve::signals::Signals;
use crate::desk::opening;
use crate::failure::Failure;
use crate::render::{Screen, plain, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::CellFlags;
use crate::{logging, offers};

/// Cells kept ready ahead of need.
const PARKED: usize = 4;

/// `bailiwick mcp`
pub(super) fn pipe(screen: &mut Screen, session: &Session, cells: &CellFlags) -> Result<u8, Failure> {
    session.here_only(
        "`mcp` alone serves a data folder of this machine",
        "let the client ask that server: mcp config --http",
    )?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::Tokio)?;
    let log = {
        let _within = tokio.enter();
        logging::begin(screen, session)?
    };
    let result = tokio.block_on(run(session, cells));
    log.end();
    tokio.shutdown_background();
    result
}

async fn run(session: &Session, cells: &CellFlags) -> Result<u8, Failure> {
    let settings = &session.loaded.settings;
    let mut signals = Signals::hear()?;
    let cells = builder(cells, Breadth::Ordinary, Some(&settings.baseline)).parked(PARKED);
    // It stays for as long as its client does, so a question may wait for whoever comes.
    let desk = Arc::new(Desk::open(opening(session, cells, Presence::Serving)?).await?);
    let preset = Preset::chosen(&settings.server.preset)?;
    let publishing = desk.is_owner().then(|| tokio::spawn(preset.publish(Arc::clone(&desk), true)));
    let ending = CancellationToken::new();
    let mcp = offers::mcp(settings, &desk, ending.clone())?;
    let actor = Actor { key: None, client: "mcp".to_owned() };
    // The desk opens for the user that owns the data folder alone: that user started the client, and answers there.
    let who = Admitted { dialogue: Dialogue::Counts, ..Admitted::alone(actor, Scopes::of([Scope::Call])) };
    let served = {
        let mut serving = std::pin::pin!(mcp.standard_streams(who, ending.clone()));
        tokio::select! {
            served = &mut serving => served,
            () = signals.next() => {
                ending.cancel();
                serving.await
            }
        }
    };
    if let Some(publishing) = publishing {
        publishing.abort();
        let _was_aborted = publishing.await;
    }
    if let Some(core) = desk.core() {
        core.end_questions();
        core.end_watching();
    }
    // Calls that were cut short are gone when this is done.
    mcp.close().await;
    for trouble in desk.close().await? {
        to_stderr(&[warning("warning: "), plain(&trouble)]);
    }
    served?;
    Ok(0)
}
