//! A few questions to whoever sits at the terminal, for what was not typed. Enter alone leaves a thing out.

use bailiwick_types::ToolName;

use super::draft::Draft;
use super::param::Param;
use crate::commands::secret::terminal;
use crate::failure::Failure;
use crate::render::{Screen, plain, to_stderr, warning};

/// So often an answer may be wrong.
const TRIES: usize = 5;

/// Asks for the name.
pub(super) fn name(screen: &Screen) -> Result<ToolName, Failure> {
    until_right(screen, "Name of the tool (a-z, 0-9, _ and -): ", |answer| Ok(ToolName::parse(answer)?))
}

/// Asks for the rest.
pub(super) fn ask(screen: &Screen, draft: &mut Draft) -> Result<(), Failure> {
    if draft.description.is_none() {
        draft.description = answer(screen, "What does it do, in a sentence? ")?;
    }
    if draft.params.is_empty() {
        to_stderr(&[plain(
            "Its parameters, one a line, like city:string!=Berlin (`!`: required); Enter ends them.",
        )]);
        while let Some(param) = until_right(screen, "  parameter: ", |typed| {
            if typed.is_empty() { Ok(None) } else { Param::parse(typed).map(Some) }
        })? {
            draft.params.push(param);
        }
    }
    if draft.command {
        return Ok(());
    }
    if draft.hosts.is_empty() {
        let hosts = answer(screen, "Hosts it fetches from, with commas (Enter: none): ")?.unwrap_or_default();
        let hosts = hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
        draft.hosts = hosts.map(str::to_owned).collect();
    }
    if !draft.read && !draft.write {
        (draft.read, draft.write) = until_right(
            screen,
            "Files of its workspace: none, read or write? [none] ",
            |answer| match answer {
                "" | "none" => Ok((false, false)),
                "read" => Ok((true, false)),
                "write" => Ok((true, true)),
                other => Err(Failure::Argument {
                    message: format!("`{other}` is none of none, read, write"),
                    hint: "Enter alone means none".to_owned(),
                }),
            },
        )?;
    }
    Ok(())
}

/// An answer; none for Enter alone.
fn answer(screen: &Screen, question: &str) -> Result<Option<String>, Failure> {
    let line = terminal::line(screen, question)?.ok_or(Failure::Declined("nothing was written"))?;
    Ok(Some(line).filter(|line| !line.is_empty()))
}

/// Asks until the answer can be read.
fn until_right<T>(
    screen: &Screen,
    question: &str,
    read: impl Fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    for _ in 1..TRIES {
        let line = answer(screen, question)?.unwrap_or_default();
        match read(&line) {
            Ok(read) => return Ok(read),
            Err(failure) => to_stderr(&[warning("again: "), plain(&failure.to_string())]),
        }
    }
    let line = answer(screen, question)?.unwrap_or_default();
    read(&line)
}
