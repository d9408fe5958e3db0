//! `bailiwick mcp install`: the entry in the client's file, after a person has seen what changes and said yes.

use std::time::{SystemTime, UNIX_EPOCH};

use bailiwick_audit::rfc3339;
use bailiwick_config::files::foreign::{Foreign, Links};
use serde_json::json;

use super::config::beside;
use super::edit::{Change, Edited, edit};
use super::snippet;
use super::wanted::Wanted;
use crate::commands::secret::terminal;
use crate::failure::Failure;
use crate::render::{Screen, change, faint, good, plain, to_stderr};
use crate::resolved::Session;
use crate::typed::Global;
use crate::typed::mcp::McpInstall;

/// `bailiwick mcp install CLIENT`
pub(super) fn install(
    screen: &mut Screen,
    session: &Session,
    global: &Global,
    what: &McpInstall,
) -> Result<u8, Failure> {
    let wanted = Wanted::resolve(session, global, &what.entry)?;
    // A folder that was cloned from somewhere must not have us write elsewhere.
    let links =
        if wanted.project { Links::Within(&session.environment.working_folder) } else { Links::Anywhere };
    let file = Foreign::read(&wanted.file, links)?;
    let Some(text) = changed(screen, &file, &wanted, what)? else {
        tell(screen, &wanted, if what.remove { "not there" } else { "already there" }, None);
        return Ok(0);
    };
    let question = show(screen, &file, &wanted, &text);
    if !what.yes {
        if !terminal::is_there() {
            return Err(Failure::Argument {
                message: "nobody is at a terminal to say yes; nothing was written".to_owned(),
                hint: "--yes writes it without asking".to_owned(),
            });
        }
        if !terminal::agrees_now(screen, &question)? {
            return Err(Failure::Declined("nothing was written"));
        }
    }
    let kept = file.replace(&text, &moment())?;
    let done = match (what.remove, what.replace) {
        (true, _) => "removed",
        (false, true) => "written",
        (false, false) => "added",
    };
    tell(screen, &wanted, done, kept.map(|kept| kept.display().to_string()));
    if !screen.wants_json() && !what.remove {
        beside(screen, session, &wanted);
        screen.note(wanted.client.afterwards());
    }
    Ok(0)
}

/// The file as it would be; none where it is so already.
fn changed(
    screen: &mut Screen,
    file: &Foreign,
    wanted: &Wanted,
    what: &McpInstall,
) -> Result<Option<String>, Failure> {
    let (entry, input, id) = (snippet::entry(wanted), snippet::input(wanted), wanted.input_id());
    let change = if what.remove {
        Change::Take { input: &id }
    } else {
        Change::Put { entry: &entry, input: input.as_ref(), replace: what.replace }
    };
    match edit(file.text(), wanted.client.format(), &wanted.name, change) {
        Ok(Edited::Same) => Ok(None),
        Ok(Edited::Text(text)) => Ok(Some(text)),
        Err(source) => {
            if source.is_for_people() && !what.remove && !screen.wants_json() {
                // Whoever has to do it by hand has something to paste.
                screen.raw(&snippet::text(wanted));
            }
            Err(Failure::Edit { file: wanted.file.clone(), source })
        }
    }
}

/// Shows the file and what changes in it; gives the question.
fn show(screen: &mut Screen, file: &Foreign, wanted: &Wanted, text: &str) -> String {
    let named = wanted.file.display().to_string();
    to_stderr(&[faint("file  "), plain(&named)]);
    if file.real() != wanted.file {
        to_stderr(&[faint("      "), plain("which is "), plain(&file.real().display().to_string())]);
    }
    if file.text().is_none() {
        to_stderr(&[faint("      "), plain("which is not there yet")]);
    }
    change::tell(file.text().unwrap_or_default(), text);
    if let Some(beforehand) = wanted.client.beforehand().filter(|_| !wanted.project) {
        screen.note(beforehand);
    }
    format!("Write this for {}?", wanted.client.title())
}

fn tell(screen: &mut Screen, wanted: &Wanted, change: &str, kept: Option<String>) {
    let file = wanted.file.display().to_string();
    if screen.wants_json() {
        screen.json(&json!({
            "client": wanted.client.word(),
            "file": file,
            "name": wanted.name,
            "change": change,
            "backup": kept,
        }));
        return;
    }
    screen.line(&[good(change), plain("  "), plain(&wanted.name), faint("  "), plain(&file)]);
    if let Some(kept) = kept {
        screen.note(&format!("what was there before is kept in {kept}"));
    }
}

/// Now, as a part of a file's name.
#[expect(clippy::disallowed_methods, reason = "the time at which a person had a file changed")]
fn moment() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = rfc3339(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    let seconds = text.split('.').next().unwrap_or_default();
    format!("{}Z", seconds.replace(['-', ':'], ""))
}
