//! `bailiwick serve`: the listener first, then the data folder, then everything that may take its time.

mod listens;
pub(crate) mod preset;
pub(crate) mod signals;
mod told;

use std::sync::Arc;
use std::time::Duration;

use bailiwick::{Breadth, Options};
use bailiwick_config::Settings;
use bailiwick_core::{Core, Desk, OperatorKey, Presence};
use bailiwick_http::perimeter::{NoAuth, OPERATORS_SLOTS};
use bailiwick_http::{App, Ground, ServeError, bind, own_listeners};
use tokio_util::sync::CancellationToken;

use self::listens::Listens;
use self::signals::Signals;
use self::told::Standing;
use crate::cells::builder;
use crate::desk::opening;
use crate::failure::Failure;
use crate::render::{Screen, plain, to_stderr, warning};
use crate::resolved::Session;
use crate::typed::serving::Serve;
use crate::{listeners, logging, offers};

/// Cells kept ready ahead of need.
const PARKED: usize = 8;
/// Calls that wait for a cell, for each that has one.
const WAITING_FOR_EACH: usize = 4;
/// How long the data folder may take to close when somebody is in a hurry.
const HURRY: Duration = Duration::from_secs(2);

/// `bailiwick serve`
pub(crate) fn serve(screen: &mut Screen, session: &Session, what: &Serve) -> Result<u8, Failure> {
    session.here_only("`serve` is a server of this machine", "leave out the address of another one")?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::Tokio)?;
    let log = {
        let _within = tokio.enter();
        logging::begin(screen, session)?
    };
    let result = tokio.block_on(run(screen, session, what));
    log.end();
    tokio.shutdown_background();
    result
}

async fn run(screen: &mut Screen, session: &Session, what: &Serve) -> Result<u8, Failure> {
    let mut settings = session.loaded.settings.clone();
    if let Some(listen) = what.listen {
        settings.server.listen = listen;
    }
    let preset = preset::Preset::chosen(what.preset.as_deref().unwrap_or(&settings.server.preset))?;
    // Heard from before anything is there, since whoever started this may end it at once.
    let mut signals = Signals::hear()?;
    // Budgets are derived from how many descriptors may be open, so this comes before any of them.
    bailiwick_sys::descriptors::raise_limit();
    let listener = bind(settings.server.listen)?;
    let bound = listener.local_addr().map_err(ServeError::Listener)?;
    keep_tools_away(&mut settings, bound)?;
    let (desk, core) = open(session, what, &settings).await?;
    let desk = Arc::new(desk);
    let data = session.loaded.data_folder.as_deref().ok_or(Failure::NoDataFolder)?;
    let _announced = listeners::announce(data, &settings.baseline.own_listeners)?;
    let key = core.operator_key().await?;
    let no_auth = if what.insecure_no_auth { NoAuth::Insecure } else { NoAuth::Refused };
    let ending = CancellationToken::new();
    let mcp = offers::mcp(&settings, &desk, ending.clone())?;
    let (desk_of_routes, keys) = (Arc::clone(&desk), core.clone());
    let ground = Ground {
        settings: &settings,
        bound,
        no_auth,
        desk: desk_of_routes,
        core: keys,
        mcp: Some(mcp.router()),
    };
    let app = App::new(ground).await?;
    let (closing, grace) = (app.closing(), app.grace());
    let mut server = tokio::spawn(app.serve(listener));

    // It answers from here on; what follows may take its time.
    let listens = Listens { bound, tls: settings.server.tls.is_some(), no_auth };
    let standing = standing(session, listens, &desk, &core, key).await?;
    standing.tell(screen, preset.follows(&desk).await?);
    for risk in listens.risks() {
        to_stderr(&[warning("warning: "), plain(&risk)]);
    }
    let publishing = tokio::spawn(preset.publish(Arc::clone(&desk), screen.is_quiet()));
    let ended = tokio::select! {
        ended = &mut server => ended,
        () = signals.next() => {
            closing.begin();
            ending.cancel();
            // Whoever would answer is about to lose us, and whoever watches has nothing more to see.
            core.end_questions();
            core.end_watching();
            screen.note(&format!("ending: calls have up to {} s; a second signal ends them now", grace.as_secs()));
            tokio::select! {
                ended = &mut server => ended,
                () = signals.next() => {
                    server.abort();
                    server.await
                }
            }
        }
    };
    publishing.abort();
    // What was aborted has gone when this is there, and with it its share of the desk.
    let _was_aborted = publishing.await;
    // Calls of sessions go on when their connections are cut; here they end.
    mcp.close().await;
    close(&desk, &mut signals).await?;
    match ended {
        Ok(ending) => ending?,
        Err(error) if error.is_cancelled() => {}
        Err(error) => return Err(Failure::Tokio(std::io::Error::other(error))),
    }
    Ok(0)
}

/// No tool may reach the server it runs in, wherever that can be reached.
fn keep_tools_away(settings: &mut Settings, bound: std::net::SocketAddr) -> Result<(), Failure> {
    let mut baseline = (*settings.baseline).clone();
    baseline.own_listeners = own_listeners(bound)?;
    settings.baseline = Arc::new(baseline);
    Ok(())
}

async fn open(session: &Session, what: &Serve, settings: &Settings) -> Result<(Desk, Core), Failure> {
    let at_once =
        usize::try_from(settings.server.calls).unwrap_or(usize::MAX).saturating_add(OPERATORS_SLOTS);
    let cells = builder(&what.cells, Breadth::Ordinary, Some(&settings.baseline))
        .parked(PARKED)
        .at_once(at_once, at_once.saturating_mul(WAITING_FOR_EACH))
        .memory(Options::default().memory);
    let mut opening = opening(session, cells, Presence::Serving)?;
    opening.settings = settings.clone();
    let folder = opening.data.display().to_string();
    let desk = Desk::open(opening).await?;
    if let Some(core) = desk.core() {
        Ok((desk, core))
    } else {
        let who = desk.owner().map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
        Err(Failure::Argument {
            message: format!("{who} owns {folder}"),
            hint: "end it, or serve another folder with --data".to_owned(),
        })
    }
}

async fn standing(
    session: &Session,
    listens: Listens,
    desk: &Desk,
    core: &Core,
    key: OperatorKey,
) -> Result<Standing, Failure> {
    let folder = session.loaded.data_folder.clone().unwrap_or_default();
    Ok(Standing {
        listens,
        is_usual_folder: session.environment.default_data_folder().as_ref() == Some(&folder),
        folder,
        key,
        walls: core.warm_up().await,
        published: preset::published(desk).await?,
    })
}

/// Gives the data folder back: what others asked for is finished first, unless somebody is in a hurry.
async fn close(desk: &Desk, signals: &mut Signals) -> Result<(), Failure> {
    let mut closing = std::pin::pin!(desk.close());
    let troubles = tokio::select! {
        closed = &mut closing => closed?,
        () = signals.next() => match tokio::time::timeout(HURRY, closing).await {
            Ok(closed) => closed?,
            Err(_) => Vec::new(),
        },
    };
    for trouble in troubles {
        to_stderr(&[warning("warning: "), plain(&trouble)]);
    }
    Ok(())
}
