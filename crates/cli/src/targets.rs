//! What `bailiwick tool` is pointed at: documents in files and folders, or names of the catalogue.
//!
//! Folders are searched for what is named like a tool; a file that is named is taken as it is. Links to folders are not
//! followed, so that a search ends.

use std::path::{Path, PathBuf};

use bailiwick_config::files;
use bailiwick_core::{Document, Fault, Refusal};
use bailiwick_document::Problems;
use bailiwick_types::ErrorCode;

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

/// Reads a document, with what it refers to in other files put into it.
pub(crate) fn read(path: &Path) -> Result<Document, Failure> {
    let text = files::read_document(path)?;
    Ok(Document { name: documents::name_of(path), text })
}

/// Reads all of them.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    files_below(paths)?.iter().map(|path| read(path)).collect()
}

/// Whether a file is code with its fields at the top, so that lines of the code are lines of the file.
pub(crate) fn is_code(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_named_like_code)
}

/// Mistakes that were found here, in the shape of those that are found where documents are handed in.
pub(crate) fn refusal_of(problems: &Problems) -> Refusal {
    let fault = |problem: &bailiwick_document::Problem| Fault {
        document: problems.document.clone(),
        path: problem.path.to_string(),
        line: problem.place.map_or(0, |place| place.line),
        column: problem.place.map_or(0, |place| place.column),
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    };
    Refusal::new(ErrorCode::Validation, format!("{} is not a tool document", problems.document))
        .with_faults(problems.list.iter().map(fault).collect())
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
            } else if is_named_like_a_tool(name)
                || is_named_like_code(name) && has_front_matter(&entry.path())?
            {
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
fn has_front_matter(path: &Path) -> Result<bool, Failure> {
    match files::read_document(path) {
        Ok(text) => {
            let text = match text.strip_prefix("#!").and_then(|rest| rest.split_once('\n')) {
                Some((_, rest)) => rest,
                None => &text,
            };
            Ok(text.trim_start().starts_with("/*---"))
        }
        Err(files::FileError::NotText { .. } | files::FileError::TooLarge { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
