//! The workspace as its manifests tell it: which crates are members, and what
//! each depends on by the name the registry knows, with the line that says so.
//! Cargo is never asked, so a tree that does not build can be checked.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// A `Cargo.toml`.
#[derive(Debug)]
pub(crate) struct Manifest {
    path: String,
    package: Option<String>,
    dependencies: Vec<Written>,
    workspace: Option<Workspace>,
}

/// The `[workspace]` table, as far as it matters here.
#[derive(Debug)]
struct Workspace {
    members: Vec<String>,
    exclude: Vec<String>,
    /// From the key in `[workspace.dependencies]` to the package it stands for.
    packages: BTreeMap<String, String>,
}

/// A dependency as written: with `workspace = true` its package is the root's to say.
#[derive(Debug)]
struct Written {
    key: String,
    package: Option<String>,
    section: Section,
    line: usize,
}

/// A crate of the workspace.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its manifest, relative to the root.
    pub(crate) manifest: String,
    /// The package's name.
    pub(crate) package: String,
    /// What it depends on, whatever the target and whether or not optional.
    pub(crate) dependencies: Vec<Dependency>,
}

/// An edge to another crate.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The package's name, not what it is renamed to.
    pub(crate) package: String,
    /// Where it is declared.
    pub(crate) section: Section,
    /// The line of the manifest.
    pub(crate) line: usize,
}

/// Which of the three kinds of dependency it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// `[dependencies]`
    Normal,
    /// `[build-dependencies]`
    Build,
    /// `[dev-dependencies]`
    Dev,
}

const SECTIONS: &[(&str, Section)] = &[
    ("dependencies", Section::Normal),
    ("build-dependencies", Section::Build),
    ("dev-dependencies", Section::Dev),
];

impl Member {
    /// The folder it is in, with a `/` at the end; empty at the root.
    pub(crate) fn folder(&self) -> &str {
        self.manifest.strip_suffix("Cargo.toml").unwrap_or_default()
    }
}

impl Manifest {
    /// Parses `text`; an error is a line and what is wrong there.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, (usize, String)> {
        let document = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, &span));
            (line, error.message().to_owned())
        })?;
        let root = document.get_ref();
        let mut dependencies = written(root, text);
        for platform in table(root, "target").into_iter().flat_map(DeTable::values) {
            dependencies.extend(platform.get_ref().as_table().into_iter().flat_map(|one| written(one, text)));
        }
        Ok(Self {
            path: path.to_owned(),
            package: table(root, "package").and_then(|package| string(package, "name")),
            dependencies,
            workspace: table(root, "workspace").map(workspace),
        })
    }

    fn folder(&self) -> &str {
        self.path.strip_suffix("/Cargo.toml").unwrap_or_default()
    }
}

/// The members of the workspace whose root manifest is among `manifests`.
pub(crate) fn members(manifests: Vec<Manifest>) -> Vec<Member> {
    let (roots, others): (Vec<_>, Vec<_>) =
        manifests.into_iter().partition(|manifest| manifest.folder().is_empty());
    let Some(mut root) = roots.into_iter().next() else { return Vec::new() };
    let Some(workspace) = root.workspace.take() else {
        return member(root, &BTreeMap::new()).into_iter().collect();
    };
    let Workspace { members, exclude, packages } = workspace;
    let matches_any = |patterns: &[String], folder: &str| patterns.iter().any(|one| matches(one, folder));
    let is_member = |manifest: &Manifest| {
        matches_any(&members, manifest.folder()) && !matches_any(&exclude, manifest.folder())
    };
    std::iter::once(root)
        .chain(others.into_iter().filter(is_member))
        .filter_map(|manifest| member(manifest, &packages))
        .collect()
}

/// The manifest as a member; none when it is not of a package.
fn member(manifest: Manifest, packages: &BTreeMap<String, String>) -> Option<Member> {
    let Manifest { path, package, dependencies, workspace: _ } = manifest;
    let resolve = |Written { key, package, section, line }| {
        let package = package.or_else(|| packages.get(&key).cloned()).unwrap_or(key);
        Dependency { package, section, line }
    };
    let dependencies = dependencies.into_iter().map(resolve).collect();
    Some(Member { manifest: path, package: package?, dependencies })
}

/// The dependencies in the sections of `parent`, a manifest or a `[target.*]`.
fn written(parent: &DeTable<'_>, text: &str) -> Vec<Written> {
    let mut found = Vec::new();
    for &(name, section) in SECTIONS {
        for (key, value) in table(parent, name).into_iter().flatten() {
            let value = value.get_ref();
            // A key of `[workspace.dependencies]` means what the root says; elsewhere a key is the package.
            let from_root = value.get("workspace").is_some_and(|flag| flag.get_ref().as_bool() == Some(true));
            let renamed = value.as_table().and_then(|table| string(table, "package"));
            let key_text = key.get_ref().to_string();
            let package = if from_root { None } else { Some(renamed.unwrap_or_else(|| key_text.clone())) };
            found.push(Written { key: key_text, package, section, line: line_of(text, &key.span()) });
        }
    }
    found
}

fn workspace(table_: &DeTable<'_>) -> Workspace {
    let packages = table(table_, "dependencies")
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            let package = value.get_ref().as_table().and_then(|table| string(table, "package"))?;
            Some((key.get_ref().to_string(), package))
        })
        .collect();
    Workspace { members: strings(table_, "members"), exclude: strings(table_, "exclude"), packages }
}

fn table<'t, 'i>(parent: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    parent.get(key)?.get_ref().as_table()
}

fn string(parent: &DeTable<'_>, key: &str) -> Option<String> {
    parent.get(key)?.get_ref().as_str().map(str::to_owned)
}

fn strings(parent: &DeTable<'_>, key: &str) -> Vec<String> {
    let list = parent.get(key).and_then(|value| value.get_ref().as_array());
    let texts = list.into_iter().flatten().filter_map(|item| DeValue::as_str(item.get_ref()));
    texts.map(str::to_owned).collect()
}

/// Whether a `members` pattern names the folder. `*` stands for any text
/// within one name, as in `crates/*` or `crates/sandbox-*`.
fn matches(pattern: &str, folder: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    pattern.split('/').count() == folder.split('/').count()
        && pattern.split('/').zip(folder.split('/')).all(|(pattern, name)| match pattern.split_once('*') {
            None => pattern == name,
            Some((before, after)) => {
                name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
            }
        })
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
}
