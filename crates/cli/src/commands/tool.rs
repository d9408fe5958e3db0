//! `bailiwick tool`: documents and the catalogue. Each verb is one action; the work is done where actions are performed.

mod apply;
mod call;
mod check;
mod list;
mod new;
mod publish;
mod show;
mod test;
mod transfer;
mod watch;

use bailiwick_core::{Action, Fault, Refusal, Reply};
use bailiwick_types::{ErrorClass, ErrorCode};
use serde_json::json;

use crate::commands::secret::terminal;
use crate::desk::{At, ask, at_desk};
use crate::failure::Failure;
use crate::render::{Screen, good, plain};
use crate::resolved::Session;
use crate::typed::CellFlags;
use crate::typed::tool::{Named, Rm, Tool};

/// For verbs that run nothing.
const NO_CELLS: CellFlags = CellFlags { insecure_cells: false };

/// `bailiwick tool …`
pub(crate) fn tool(screen: &mut Screen, session: &Session, what: &Tool) -> Result<u8, Failure> {
    match what {
        Tool::New(what) => new::new(screen, what),
        Tool::Check(what) => check::check(screen, session, what),
        Tool::Test(what) => test::test(screen, session, what),
        Tool::Publish(what) => publish::publish(screen, session, what),
        Tool::Unpublish(what) => unpublish(screen, session, what),
        Tool::Rm(what) => rm(screen, session, what),
        Tool::List(what) => list::list(screen, session, what),
        Tool::Show(what) => show::show(screen, session, what),
        Tool::Apply(what) => apply::apply(screen, session, what),
        Tool::Import(what) => transfer::import(screen, session, what),
        Tool::Export(what) => transfer::export(screen, session, what),
        Tool::Call(what) => call::call(screen, session, what),
    }
}

fn unpublish(screen: &mut Screen, session: &Session, Named { name }: &Named) -> Result<u8, Failure> {
    at_desk(session, &NO_CELLS, async |desk| done(desk, Action::ToolUnpublish { tool: name.clone() }).await)?;
    tell(screen, name, "unpublished");
    Ok(0)
}

fn rm(screen: &mut Screen, session: &Session, Rm { name, yes }: &Rm) -> Result<u8, Failure> {
    let asks = !yes && terminal::is_there();
    if asks && !terminal::agrees(screen, &format!("Remove the tool {} for good?", harmless(name)))? {
        return Err(Failure::Declined("nothing was removed"));
    }
    at_desk(session, &NO_CELLS, async |desk| done(desk, Action::ToolRemove { tool: name.clone() }).await)?;
    tell(screen, name, "removed");
    Ok(0)
}

async fn done(desk: &At, action: Action) -> Result<(), Failure> {
    match ask(desk, action).await? {
        Reply::Done | Reply::Tools(_) => Ok(()),
        _ => Err(Failure::StrangeReply("done")),
    }
}

fn tell(screen: &mut Screen, name: &str, change: &str) {
    if screen.wants_json() {
        screen.json(&json!({"name": name, "change": change}));
    } else {
        screen.line(&[good(change), plain(" "), plain(name)]);
    }
}

/// A text for a prompt, which is written as it is.
fn harmless(text: &str) -> String {
    text.escape_debug().to_string()
}

/// Whether a refusal is about what was handed in, so that a command can go on with others.
fn is_about_the_input(refusal: &Refusal) -> bool {
    matches!(refusal.code.class(), ErrorClass::Input | ErrorClass::Denied)
}

/// Tries an action that may turn approval off, and asks the person for the yes that it may lack.
async fn with_confirmation(
    screen: &Screen,
    said_yes: bool,
    attempt: impl AsyncFn(bool) -> Result<Reply, Refusal>,
) -> Result<Reply, Failure> {
    match attempt(said_yes).await {
        Err(refusal) if !said_yes && turns_approval_off(&refusal) && terminal::is_there() => {
            screen.refusal(&refusal);
            if !terminal::agrees_now(screen, "turn approval off?")? {
                return Err(Failure::Declined("nothing was changed"));
            }
            Ok(attempt(true).await?)
        }
        other => Ok(other?),
    }
}

/// Whether all that a refusal lacks is a person's yes to approval being turned off.
fn turns_approval_off(refusal: &Refusal) -> bool {
    let about_that = |fault: &Fault| fault.path == "approval.mode";
    refusal.code == ErrorCode::Conflict && !refusal.faults.is_empty() && refusal.faults.iter().all(about_that)
}
