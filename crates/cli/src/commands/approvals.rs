//! `bailiwick approvals`: the calls that wait for a person. At a terminal a live view; elsewhere one verb at a time.

mod keys;
mod live;
mod stays;
mod view;

use bailiwick_core::{Action, Remember, RememberedFor, RememberedYes, Reply, Waiting};
use bailiwick_types::ApprovalId;
use serde_json::json;

use crate::commands::secret::terminal;
use crate::desk::{At, ask, at_desk};
use crate::failure::Failure;
use crate::render::approval::Extent;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, approval, faint, good, plain, stage, strong, to_stderr};
use crate::resolved::Session;
use crate::typed::CellFlags;
use crate::typed::serving::{ApprovalNamed, Approvals, ApprovalsVerb, Yes};

/// Nothing of this runs code of its own.
const NO_CELLS: CellFlags = CellFlags { insecure_cells: false };

/// `bailiwick approvals …`
pub(crate) fn approvals(screen: &mut Screen, session: &Session, what: &Approvals) -> Result<u8, Failure> {
    match &what.verb {
        None if !screen.wants_json() && stage::is_possible() => live::live(screen, session),
        None | Some(ApprovalsVerb::List) => list(screen, session),
        Some(ApprovalsVerb::Show(ApprovalNamed { id })) => show(screen, session, id),
        Some(ApprovalsVerb::Yes(yes)) => answer(screen, session, &yes.id, true, remember(yes)),
        Some(ApprovalsVerb::No(ApprovalNamed { id })) => answer(screen, session, id, false, None),
        Some(ApprovalsVerb::Remembered) => remembered(screen, session),
        Some(ApprovalsVerb::Forget(ApprovalNamed { id })) => forget(screen, session, id),
    }
}

fn remember(yes: &Yes) -> Option<Remember> {
    let arguments = yes.same_arguments.map(|minutes| Remember { what: RememberedFor::Arguments, minutes });
    arguments.or_else(|| yes.same_key.map(|minutes| Remember { what: RememberedFor::Key, minutes }))
}

/// The questions that wait.
async fn waiting(desk: &At) -> Result<Vec<Waiting>, Failure> {
    match ask(desk, Action::ApprovalList).await? {
        Reply::Approvals(waiting) => Ok(waiting),
        _ => Err(Failure::StrangeReply("questions")),
    }
}

async fn all_remembered(desk: &At) -> Result<Vec<RememberedYes>, Failure> {
    match ask(desk, Action::ApprovalRemembered).await? {
        Reply::Remembered(remembered) => Ok(remembered),
        _ => Err(Failure::StrangeReply("remembered answers")),
    }
}

fn list(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let waiting = at_desk(session, &NO_CELLS, async |desk| waiting(desk).await)?;
    if screen.wants_json() {
        screen.json(&json!({"approvals": waiting}));
        return Ok(0);
    }
    if waiting.is_empty() {
        screen.line(&[plain("nothing waits")]);
        return Ok(0);
    }
    let mut table = Table::new(&["ID", "LEFT", "RISK", "TOOL", "ASKED BY"]);
    for Waiting { id, question, asked_at: _, deadline_at: _, remaining_ms, last: _ } in &waiting {
        let who = [Some(question.actor.client.as_str()), question.actor.key.as_deref()];
        let who: Vec<&str> = who.into_iter().flatten().collect();
        table.row(vec![
            Cell::new(id.to_string(), plain),
            Cell::new(format!("{}s", remaining_ms.div_ceil(1_000)), plain),
            Cell::new(question.risk.level.name(), plain),
            Cell::new(&question.tool, strong),
            Cell::new(who.join(" "), faint),
        ]);
    }
    table.show(screen);
    Ok(0)
}

fn show(screen: &mut Screen, session: &Session, id: &str) -> Result<u8, Failure> {
    let waiting = at_desk(session, &NO_CELLS, async |desk| {
        let all = waiting(desk).await?;
        let id = meant(id, all.iter().map(|waiting| waiting.id))?;
        all.into_iter().find(|waiting| waiting.id == id).ok_or_else(|| none(&id.to_string()))
    })?;
    if screen.wants_json() {
        screen.json(&json!(waiting));
        return Ok(0);
    }
    for line in approval::details(&waiting, waiting.remaining_ms, Extent::Whole).lines {
        screen.line(&line);
    }
    Ok(0)
}

fn answer(
    screen: &mut Screen,
    session: &Session,
    id: &str,
    yes: bool,
    remember: Option<Remember>,
) -> Result<u8, Failure> {
    let id = at_desk(session, &NO_CELLS, async |desk| {
        // A whole id is taken as it is: whether it still waits is told by whoever knows how it ended.
        let id = match ApprovalId::parse(id) {
            Ok(id) => id,
            Err(_) => meant(id, waiting(desk).await?.iter().map(|waiting| waiting.id))?,
        };
        if yes && !screen.wants_json() {
            let all = waiting(desk).await?;
            if let Some(waiting) = all.iter().find(|waiting| waiting.id == id) {
                agree(screen, waiting)?;
            }
        }
        ask(desk, Action::ApprovalAnswer { id, yes, remember }).await?;
        Ok(id)
    })?;
    let word = if yes { "yes" } else { "no" };
    if screen.wants_json() {
        screen.json(&json!({"id": id, "answer": word}));
    } else {
        screen.line(&[good(word), plain(" to "), plain(&id.to_string())]);
    }
    Ok(0)
}

/// Shows all of a question before a yes to it. A person at a terminal is asked; a script said yes by its command.
fn agree(screen: &Screen, waiting: &Waiting) -> Result<(), Failure> {
    for line in approval::details(waiting, waiting.remaining_ms, Extent::Whole).lines {
        to_stderr(&line);
    }
    if terminal::is_there() && !terminal::agrees_now(screen, "say yes to all of this?")? {
        return Err(Failure::Declined("nothing was answered: the call still waits"));
    }
    Ok(())
}

fn remembered(screen: &mut Screen, session: &Session) -> Result<u8, Failure> {
    let remembered = at_desk(session, &NO_CELLS, async |desk| all_remembered(desk).await)?;
    if screen.wants_json() {
        screen.json(&json!({"remembered": remembered}));
        return Ok(0);
    }
    if remembered.is_empty() {
        screen.line(&[plain("no answer is remembered")]);
        return Ok(0);
    }
    let mut table = Table::new(&["ID", "TOOL", "FOR", "WHOSE CALLS", "BY", "UNTIL", "USED"]);
    for yes in &remembered {
        let what = match (yes.what, &yes.arguments) {
            (RememberedFor::Key, _) => "every call".to_owned(),
            (RememberedFor::Arguments, Some(arguments)) => arguments.to_string(),
            (RememberedFor::Arguments, None) => "identical arguments".to_owned(),
        };
        table.row(vec![
            Cell::new(yes.id.to_string(), plain),
            Cell::new(&yes.tool, strong),
            Cell::new(what, plain),
            Cell::new(yes.actor.key.as_deref().unwrap_or(&yes.actor.client), plain),
            Cell::new(&yes.by, plain),
            Cell::new(&yes.until, plain),
            Cell::new(yes.used.to_string(), faint),
        ]);
    }
    table.show(screen);
    Ok(0)
}

fn forget(screen: &mut Screen, session: &Session, id: &str) -> Result<u8, Failure> {
    let id = at_desk(session, &NO_CELLS, async |desk| {
        let id = match ApprovalId::parse(id) {
            Ok(id) => id,
            Err(_) => meant(id, all_remembered(desk).await?.iter().map(|yes| yes.id))?,
        };
        ask(desk, Action::ApprovalForget { id }).await?;
        Ok(id)
    })?;
    if screen.wants_json() {
        screen.json(&json!({"id": id, "change": "forgotten"}));
    } else {
        screen.line(&[good("forgotten "), plain(&id.to_string())]);
    }
    Ok(0)
}

/// The one id that begins or ends like this.
fn meant(text: &str, ids: impl Iterator<Item = ApprovalId>) -> Result<ApprovalId, Failure> {
    let is_meant = |id: &ApprovalId| {
        let id = id.to_string();
        id.starts_with(text) || id.ends_with(text)
    };
    let mut found = ids.filter(is_meant);
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (Some(_), Some(_)) => Err(Failure::Argument {
            message: format!("`{text}` is the begin or end of more than one id"),
            hint: "write more of it; bailiwick approvals list shows them".to_owned(),
        }),
        (None, _) => Err(none(text)),
    }
}

fn none(text: &str) -> Failure {
    let message = format!("no question or answer has the id `{text}`");
    Failure::Refused(
        bailiwick_core::Refusal::new(bailiwick_types::ErrorCode::NotFound, message)
            .with_hint("it may be over; bailiwick approvals list shows what waits"),
    )
}
