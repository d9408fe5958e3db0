//! The live view: painted whenever something happens, and four times a second for the countdown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick_core::{Action, Event, Happening, Listener, Presence, Refusal};
use bailiwick_types::ErrorCode;
use rustix::process::{Signal as Stops, getpid, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;

use super::keys::Keys;
use super::stays::Stays;
use super::view::{Do, View};
use super::{NO_CELLS, waiting};
use crate::desk::{At, Person, ask, at_desk_for, caller};
use crate::failure::Failure;
use crate::render::Screen;
use crate::render::stage::Stage;
use crate::resolved::Session;

/// How often the countdown is painted.
const TICK: Duration = Duration::from_millis(250);
/// How often the list is asked for, whatever is heard.
const ANYWAY: Duration = Duration::from_secs(2);
/// How long after a failed watch it is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// `bailiwick approvals` at a terminal. Where no server runs, calls of other commands wait for this one.
pub(super) fn live(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let stays = Stays::default();
    let opens = |opening| stays.opens(opening);
    at_desk_for(session, &NO_CELLS, Presence::Serving, opens, async |desk| {
        match desk {
            At::Desk(desk) if desk.is_owner() => {
                screen
                    .note("no server runs: calls from this data folder are answered here while this is open");
            }
            At::Desk(_) | At::Remote(_) => stays.as_guest(),
        }
        // Before the terminal is taken, so that a refusal stands where it can be read.
        let first = waiting(desk).await?;
        let mut view = View::default();
        view.take(first, Instant::now());
        let mut signals = Signals::hear()?;
        let stage = Stage::enter()?;
        let keys = Keys::read().map_err(Failure::Terminal)?;
        let heard = Arc::new(Heard::default());
        tokio::select! {
            () = signals.end() => Ok(0),
            failure = watch(desk, &heard) => Err(failure),
            ended = run((desk, &stays), &stage, keys, view, &heard) => ended,
        }
    })
}

/// What ends the view from outside. Each of them would leave the terminal as nobody can use it.
struct Signals {
    ends: [Signal; 4],
}

impl Signals {
    fn hear() -> Result<Self, Failure> {
        let one = |kind| signal(kind).map_err(Failure::Signals);
        Ok(Self {
            ends: [
                one(SignalKind::terminate())?,
                one(SignalKind::interrupt())?,
                one(SignalKind::hangup())?,
                one(SignalKind::quit())?,
            ],
        })
    }

    async fn end(&mut self) {
        let [term, int, hup, quit] = &mut self.ends;
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            _ = hup.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

/// Being stopped and going on: whoever stopped it has the terminal meanwhile.
struct Pauses {
    stop: Signal,
    go_on: Signal,
}

impl Pauses {
    fn hear() -> Result<Self, Failure> {
        let one = |kind: Stops| signal(SignalKind::from_raw(kind.as_raw())).map_err(Failure::Signals);
        Ok(Self { stop: one(Stops::TSTP)?, go_on: one(Stops::CONT)? })
    }

    /// Gives the terminal back, stops, and takes the terminal when it goes on. Not to be left half done.
    async fn pause(&mut self, stage: &Stage) -> Result<(), Failure> {
        stage.give_back().map_err(Failure::Terminal)?;
        kill_process(getpid(), Stops::STOP).map_err(|errno| Failure::Signals(errno.into()))?;
        self.go_on.recv().await;
        stage.take()
    }
}

/// Hears that something about questions happened.
#[derive(Default)]
struct Heard(Notify);

impl Listener for Heard {
    fn hear(&self, event: Event) {
        if let Event::Happened(happening) = event
            && matches!(*happening, Happening::Asked(_) | Happening::Answered(_) | Happening::Missed(_))
        {
            self.0.notify_one();
        }
    }
}

/// Watches what happens; ends only where nothing will be told any more.
async fn watch(desk: &At, heard: &Arc<Heard>) -> Failure {
    loop {
        let listener: Arc<dyn Listener> = Arc::<Heard>::clone(heard);
        if let Err(refusal) = desk.perform(caller(Person::Nobody, listener), Action::Watch).await
            && is_for_good(&refusal)
        {
            return refusal.into();
        }
        tokio::time::sleep(AGAIN).await;
        heard.0.notify_one();
    }
}

/// Whether asking again would give the same.
fn is_for_good(refusal: &Refusal) -> bool {
    matches!(refusal.code, ErrorCode::Unauthorized | ErrorCode::Forbidden)
}

async fn run(
    at: (&At, &Stays),
    stage: &Stage,
    mut keys: Keys,
    mut view: View,
    heard: &Heard,
) -> Result<u8, Failure> {
    let (desk, _) = at;
    let mut resized = signal(SignalKind::window_change()).map_err(Failure::Signals)?;
    let mut pauses = Pauses::hear()?;
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut anyway = tokio::time::interval(ANYWAY);
    anyway.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let (columns, rows) = Stage::size();
        stage.paint(&view.frame(columns, rows, Instant::now()), rows)?;
        tokio::select! {
            key = keys.next() => match view.press(key, Instant::now()) {
                Do::Nothing => {}
                Do::Quit => return Ok(0),
                Do::Answer { id, yes, remember } => {
                    match ask(desk, Action::ApprovalAnswer { id, yes, remember }).await {
                        Ok(_) => view.say(if yes { "said yes" } else { "said no" }, yes),
                        Err(refusal) => view.say(refusal.message, false),
                    }
                    // What was pressed meanwhile was pressed at the question that is gone.
                    keys.forget();
                    refresh(at, &mut view).await?;
                }
            },
            _ = resized.recv() => {}
            _ = pauses.stop.recv() => {
                pauses.pause(stage).await?;
                keys.forget();
            }
            // It was stopped by what cannot be heard.
            _ = pauses.go_on.recv() => stage.take()?,
            _ = ticks.tick() => {}
            () = heard.0.notified() => refresh(at, &mut view).await?,
            _ = anyway.tick() => refresh(at, &mut view).await?,
        }
    }
}

/// Asks for the questions. A server far away that is gone for a moment is told of, not despaired of.
async fn refresh((desk, stays): (&At, &Stays), view: &mut View) -> Result<(), Failure> {
    let waiting = waiting(desk).await;
    if let Some(ended) = stays.ended(view.count()) {
        return Err(ended.into());
    }
    match waiting {
        Ok(waiting) => view.take(waiting, Instant::now()),
        Err(Failure::Refused(refusal)) if !is_for_good(&refusal) => {
            view.take(Vec::new(), Instant::now());
            view.say(refusal.message, false);
        }
        Err(failure) => return Err(failure),
    }
    Ok(())
}
