//! `bailiwick tool import` and `export`: documents of a folder into the catalogue and back. Both are all or nothing as far
//! as they can be: an import is one transaction, an export looks at every file before it writes the first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick_config::files::{self, FileError, Readers};
use bailiwick_core::{Action, Change, Deaf, Document, Fault, Imported, Reply};
use bailiwick_document::Problem;
use bailiwick_tool::{FromSpring, read_spring};
use serde_json::json;

use super::check::{tell_fault, tell_found};
use super::list::look_of;
use super::{NO_CELLS, with_confirmation};
use crate::commands::serve::preset;
use crate::desk::{Person, ask, at_desk, caller};
use crate::documents;
use crate::failure::Failure;
use crate::render::table::{Cell, Table};
use crate::render::{Screen, faint, good, plain, strong, warning};
use crate::resolved::Session;
use crate::targets;
use crate::typed::tool::{Export, Import, Program};

/// `bailiwick tool import PATH…`
pub(crate) fn import(screen: &mut Screen, session: &Session, what: &Import) -> Result<u8, Failure> {
    let Import { paths, preset, from, approval_off } = what;
    let (documents, notes) = match (preset, from) {
        (Some(name), _) => (preset::documents(name)?, Vec::new()),
        (None, Some(Program::Spring)) => from_spring(paths)?,
        (None, None) => (targets::read_all(paths)?, Vec::new()),
    };
    let imported = at_desk(session, &NO_CELLS, async |desk| {
        let caller = caller(Person::of(*approval_off), Arc::new(Deaf));
        let attempt = async |approval_off| {
            let action = Action::ToolImport { documents: documents.clone(), approval_off };
            desk.perform(caller.clone(), action).await
        };
        match with_confirmation(screen, *approval_off, attempt).await? {
            Reply::Imported(imported) => Ok(imported),
            _ => Err(Failure::StrangeReply("an import")),
        }
    })?;
    if screen.wants_json() {
        screen.json(&match from {
            Some(_) => json!({"tools": imported, "notes": notes}),
            None => json!({"tools": imported}),
        });
        return Ok(0);
    }
    for note in &notes {
        tell_fault(screen, faint("note: "), note);
    }
    let mut table = Table::new(&["CHANGE", "NAME", "STATE"]);
    for Imported { id: _, name, change, state, version: _, warnings, texts } in &imported {
        for fault in warnings {
            tell_fault(screen, warning("warning: "), fault);
        }
        for found in texts {
            tell_found(screen, found);
        }
        let (word, look): (&str, for<'a> fn(&'a str) -> crate::render::Span<'a>) = match change {
            Change::Added => ("added", good),
            Change::Changed => ("changed", warning),
            Change::Texts => ("texts", plain),
            Change::Same => ("same", faint),
        };
        table.row(vec![Cell::new(word, look), Cell::new(name, strong), Cell::new(state, look_of(state))]);
    }
    table.show(screen);
    Ok(0)
}

/// The documents of files of Spring AI Playground, and what of them has no effect here.
fn from_spring(paths: &[PathBuf]) -> Result<(Vec<Document>, Vec<Fault>), Failure> {
    let (mut documents, mut notes) = (Vec::new(), Vec::new());
    for path in paths {
        let name = documents::name_of(path);
        for FromSpring { tool, notes: of_tool } in read_spring(&name, &files::read_document(path)?)? {
            let text = tool.to_json().to_string();
            documents.push(Document { name: format!("{}.tool.json", tool.name().as_str()), text });
            notes.extend(of_tool.into_iter().map(|note| note_of(&name, note)));
        }
    }
    Ok((documents, notes))
}

fn note_of(document: &str, note: Problem) -> Fault {
    let Problem { place, path, message, hint } = note;
    let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
    Fault { document: document.to_owned(), path: path.as_str().to_owned(), line, column, message, hint }
}

/// `bailiwick tool export [NAME…] --to FOLDER`
pub(crate) fn export(screen: &mut Screen, session: &Session, what: &Export) -> Result<u8, Failure> {
    let Export { names, to, force } = what;
    let documents = at_desk(session, &NO_CELLS, async |desk| {
        match ask(desk, Action::ToolExport { tools: names.clone() }).await? {
            Reply::Exported(documents) => Ok(documents),
            _ => Err(Failure::StrangeReply("documents")),
        }
    })?;
    let mut changed = Vec::new();
    let mut differing = Vec::new();
    for Document { name, text } in &documents {
        let path = beneath(to, name)?;
        match present(&path)? {
            Some(present) if present == *text => continue,
            Some(_) => differing.push(path.display().to_string()),
            None => {}
        }
        changed.push((path, text));
    }
    if !force && !differing.is_empty() {
        return Err(Failure::Argument {
            message: format!("these files are there and differ: {}", differing.join(", ")),
            hint: "export to another folder, or write over them with --force".to_owned(),
        });
    }
    for (path, text) in &changed {
        files::replace(path, text, Readers::Everybody)?;
    }
    let written: Vec<String> = changed.iter().map(|(path, _)| path.display().to_string()).collect();
    if screen.wants_json() {
        screen.json(&json!({"written": written, "same": documents.len() - written.len()}));
        return Ok(0);
    }
    for path in &written {
        screen.line(&[good("wrote "), plain(path)]);
    }
    if written.len() < documents.len() {
        screen.show_now();
        screen.note(&format!("the same already: {}", documents.len() - written.len()));
    }
    Ok(0)
}

/// The file of a document in a folder. A name that came from elsewhere must not lead out of it.
fn beneath(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    if is_plain {
        return Ok(folder.join(name));
    }
    Err(Failure::Argument {
        message: format!("`{}` cannot be the name of a file", name.escape_debug()),
        hint: "give the tool another name".to_owned(),
    })
}

/// What is in a file now, if it is there.
fn present(path: &Path) -> Result<Option<String>, Failure> {
    match files::read_document(path) {
        Ok(text) => Ok(Some(text)),
        Err(FileError::Open { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
