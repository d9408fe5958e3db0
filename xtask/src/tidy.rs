//! `tidy`: the invariants of the architecture that no lint can hold, as rules
//! over the tree. Start with the table in [`rules`]; each rule is a pure
//! function over a [`survey::Survey`], which is made once from a [`Tree`].
//! Nothing in here reads the disk or decides to stop early: every finding is
//! reported, in one go.

mod attributes;
mod comments;
mod finding;
mod layers;
mod manifest;
mod rules;
mod source;
mod survey;
mod test_code;
mod tokens;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::tree::Tree;
use crate::{Fault, Verdict, disk, output};
use finding::Finding;
use survey::Survey;

/// `tidy [--root DIR]`.
pub(crate) fn run(arguments: &[OsString]) -> Result<Verdict, Fault> {
    let report = over(&root(arguments)?)?;
    output::lines(report.lines()).map_err(Fault::Print)?;
    Ok(if report.findings.is_empty() { Verdict::Clean } else { Verdict::Findings })
}

fn root(arguments: &[OsString]) -> Result<PathBuf, Fault> {
    let mut root = disk::own_workspace();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument != "--root" {
            let complaint = format!("unknown argument `{}`", argument.display());
            return Err(Fault::Usage { complaint });
        }
        let Some(folder) = arguments.next() else {
            return Err(Fault::Usage { complaint: "--root needs a folder".to_owned() });
        };
        root = PathBuf::from(folder);
    }
    Ok(root)
}

/// Reads the tree below `root` and checks it.
fn over(root: &Path) -> Result<Report, disk::ReadError> {
    Ok(check(&disk::read_tree(root)?))
}

/// Checks a tree against every rule.
fn check(tree: &Tree) -> Report {
    let survey = Survey::of(tree);
    let mut findings: Vec<Finding> = rules::RULES.iter().flat_map(|rule| rule.findings(&survey)).collect();
    findings.sort();
    findings.dedup();
    Report { files: tree.len(), findings }
}

/// What a whole run has to say.
#[derive(Debug)]
struct Report {
    files: usize,
    findings: Vec<Finding>,
}

impl Report {
    fn lines(&self) -> impl Iterator<Item = String> {
        let summary = format!("tidy: {} files, {} findings", self.files, self.findings.len());
        self.findings.iter().map(Finding::to_string).chain([summary])
    }
}
