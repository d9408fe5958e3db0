//! What `bailiwick tool` is pointed at: documents in files and folders, or names of the catalogue.
//!
//! Folders are searched for what is named like a tool; a file that is named is taken as it is. Links to folders are not
//! followed, so that a search ends.

use std::path::{Component, Path, PathBuf};

use bailiwick::Recording;
use bailiwick_config::files;
use bailiwick_core::Document;
use bailiwick_tool::{Read, Syntax, Tool, has_front_matter};
use serde_json::Value;

use crate::documents;
use crate::failure::Failure;

/// The most documents that one command takes.
const MOST_DOCUMENTS: usize = 10_000;

/// Whether what was typed means a file or folder, not a name of the catalogue.
pub(crate) fn is_path(typed: &str) -> bool {
    typed.contains(['.', '/']) || Path::new(typed).exists()
}

/// Every document below these files and folders, in the order of their names.
pub(crate) fn files_below(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let mut below = Vec::new();
        if path.is_dir() {
            search(path, &mut below)?;
            if below.is_empty() {
                return Err(Failure::Argument {
                    message: format!("there is no tool in {}", path.display()),
                    hint: "a tool is a file named *.tool.yaml or *.tool.json, or .js or .ts with its fields in a \
                           comment at the top"
                        .to_owned(),
                });
            }
        } else {
            below.push(path.clone());
        }
        below.sort();
        found.extend(below);
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| seen.insert(path.clone()));
    if found.len() > MOST_DOCUMENTS {
        return Err(Failure::Argument {
            message: format!("these are {} documents; a command takes at most {MOST_DOCUMENTS}", found.len()),
            hint: "name fewer folders".to_owned(),
        });
    }
    Ok(found)
}

/// Reads a document, with the recordings that its tests name put into it: where documents are handed in there are no
/// files. Then it is handed in as JSON; a document that cannot be read is handed in as it is, to be told so there.
pub(crate) fn read(path: &Path) -> Result<Document, Failure> {
    let name = documents::name_of(path);
    let text = files::read_document(path)?;
    let Some(syntax) = Syntax::of_path(path).filter(|_| text.contains("recording")) else {
        return Ok(Document { name, text });
    };
    let Ok(Read { tool, .. }) = Tool::read(&name, &text, syntax) else {
        return Ok(Document { name, text });
    };
    let mut json = tool.to_json();
    let tests = json.get_mut("tests").and_then(Value::as_array_mut);
    let named: Vec<&mut Value> = tests
        .into_iter()
        .flatten()
        .filter_map(|test| test.get_mut("recording").filter(|recording| recording.is_string()))
        .collect();
    if named.is_empty() {
        return Ok(Document { name, text });
    }
    for recording in named {
        *recording = recorded(path, recording.as_str().unwrap_or_default())?;
    }
    // JSON is YAML, but no code.
    let name = if is_code(path) { format!("{name}.json") } else { name };
    Ok(Document { name, text: json.to_string() })
}

/// A recording that a document names: below the document's own folder, and nowhere else.
fn recorded(document: &Path, named: &str) -> Result<Value, Failure> {
    let below = Path::new(named);
    let stays = below.components().all(|part| matches!(part, Component::Normal(_)));
    if named.is_empty() || !stays {
        return Err(Failure::Argument {
            message: format!(
                "{}: the recording `{}` is not below the document's folder",
                document.display(),
                named.escape_debug()
            ),
            hint: "put it beside the document, and name it without `..`".to_owned(),
        });
    }
    let path = document.parent().unwrap_or(Path::new("")).join(below);
    let wrong = |source| Failure::Recording { path: path.clone(), source };
    let text = files::read_recording(&path)?;
    Recording::parse(&text).map_err(wrong)?;
    serde_json::from_str(&text).map_err(|error| wrong(error.into()))
}

/// Reads all of them.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    files_below(paths)?.iter().map(|path| read(path)).collect()
}

/// Whether a file is code with its fields at the top, so that lines of the code are lines of the file.
pub(crate) fn is_code(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_named_like_code)
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let failed = |source| Failure::Folder { path: folder.clone(), source };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path());
                continue;
            }
            // A pipe that somebody left there would keep the search waiting; a link may lead to one.
            if !entry.path().is_file() {
                continue;
            }
            if is_named_like_a_tool(name) || is_named_like_code(name) && begins_with_fields(&entry.path())? {
                found.push(entry.path());
            }
        }
    }
    Ok(())
}

fn is_named_like_a_tool(name: &str) -> bool {
    [".tool.yaml", ".tool.yml", ".tool.json"].iter().any(|end| name.ends_with(end))
}

fn is_named_like_code(name: &str) -> bool {
    [".js", ".mjs", ".ts", ".mts"].iter().any(|end| name.ends_with(end))
}

/// Whether code begins with the fields of a tool. A file that is no text or too long is no tool.
fn begins_with_fields(path: &Path) -> Result<bool, Failure> {
    match files::read_document(path) {
        Ok(text) => Ok(has_front_matter(&text)),
        Err(files::FileError::NotText { .. } | files::FileError::TooLarge { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
