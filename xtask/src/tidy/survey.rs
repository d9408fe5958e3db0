//! The tree, lexed and parsed once, for every rule to look at.

use super::finding::{Placed, Remark};
use super::manifest::{Manifest, Member, members};
use super::source::Source;
use crate::tree::{Content, Tree};

/// What the rules see of a tree.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The path of every Rust file, also of those that do not lex.
    pub(crate) rust_paths: Vec<String>,
    /// Every Rust file that lexes.
    pub(crate) sources: Vec<Source>,
    /// The crates of the workspace.
    pub(crate) members: Vec<Member>,
    /// What could not be looked at, and why.
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A file that the other rules cannot speak for.
#[derive(Debug)]
pub(crate) struct Unreadable {
    path: String,
    line: usize,
    why: String,
    instead: &'static str,
}

impl Unreadable {
    /// As a finding, save for the rule's id.
    pub(crate) fn placed(&self) -> Placed {
        let Self { path, line, why, instead } = self;
        Remark::new(*line, why.clone(), *instead).on(path.clone())
    }
}

impl Survey {
    /// Looks at every file of the tree.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut survey = Self::default();
        let mut manifests = Vec::new();
        for (path, content) in tree.iter() {
            let is_rust = std::path::Path::new(path).extension().is_some_and(|extension| extension == "rs");
            if is_rust {
                survey.rust_paths.push(path.to_owned());
            }
            match content {
                Content::Unreadable { why } => {
                    let why = format!("it cannot be read: {why}");
                    survey.refuse(path, 1, why, "make it a readable UTF-8 file, or remove it");
                }
                Content::Text(text) if is_rust => match Source::lex(path, text) {
                    Ok(source) => survey.sources.push(source),
                    Err(line) => {
                        let why = "its tokens do not lex as Rust".to_owned();
                        survey.refuse(path, line, why, "make it compile: no rule can look into it");
                    }
                },
                Content::Text(text) => match Manifest::parse(path, text) {
                    Ok(manifest) => manifests.push(manifest),
                    Err((line, why)) => {
                        let why = format!("it is not a manifest: {why}");
                        survey.refuse(path, line, why, "make it valid TOML");
                    }
                },
            }
        }
        survey.members = members(manifests);
        survey
    }

    fn refuse(&mut self, path: &str, line: usize, why: String, instead: &'static str) {
        self.unreadable.push(Unreadable { path: path.to_owned(), line, why, instead });
    }
}
