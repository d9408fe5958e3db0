//! Names and modes that make a reviewer look twice: what is run later by somebody who only opens the folder.
//!
//! The list is small and meant to be read. It decides nothing: what is not on it can be just as bad, and a change that is
//! flagged may be just what was asked for. Names are compared without regard to case, as some file systems do.

use serde::Serialize;

use crate::change::Node;
use crate::{Kind, RelPath};

/// Why a change is worth a second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Sensitive {
    /// Run by git, or says what git runs.
    Git,
    /// Run by a shell that starts, or that enters the folder.
    ShellStart,
    /// Run by a build, an install or a test.
    Build,
    /// Run or read by an editor, or by an agent.
    Editor,
    /// Run by a server that builds.
    Pipeline,
    /// Opens a machine to others, or keeps what opens it.
    Access,
    /// A file that can be executed, and could not before.
    Executable,
}

/// Names of files, and what they are when they change anywhere in the folder.
const FILES: &[(&str, Sensitive)] = &[
    (".gitattributes", Sensitive::Git),
    (".gitconfig", Sensitive::Git),
    (".gitmodules", Sensitive::Git),
    (".pre-commit-config.yaml", Sensitive::Git),
    (".bash_login", Sensitive::ShellStart),
    (".bash_profile", Sensitive::ShellStart),
    (".bashrc", Sensitive::ShellStart),
    (".envrc", Sensitive::ShellStart),
    (".profile", Sensitive::ShellStart),
    (".zlogin", Sensitive::ShellStart),
    (".zprofile", Sensitive::ShellStart),
    (".zshenv", Sensitive::ShellStart),
    (".zshrc", Sensitive::ShellStart),
    (".npmrc", Sensitive::Build),
    ("build.rs", Sensitive::Build),
    ("cmakelists.txt", Sensitive::Build),
    ("conftest.py", Sensitive::Build),
    ("dockerfile", Sensitive::Build),
    ("gnumakefile", Sensitive::Build),
    ("justfile", Sensitive::Build),
    ("makefile", Sensitive::Build),
    ("package.json", Sensitive::Build),
    ("pyproject.toml", Sensitive::Build),
    ("setup.py", Sensitive::Build),
    ("sitecustomize.py", Sensitive::Build),
    (".mcp.json", Sensitive::Editor),
    ("agents.md", Sensitive::Editor),
    ("claude.md", Sensitive::Editor),
    (".gitlab-ci.yml", Sensitive::Pipeline),
    ("jenkinsfile", Sensitive::Pipeline),
    ("authorized_keys", Sensitive::Access),
];

/// Names of folders, and what everything in them is. What is in `.git` is git's own: objects are many and inert.
const FOLDERS: &[(&str, Sensitive)] = &[
    (".githooks", Sensitive::Git),
    (".husky", Sensitive::Git),
    (".cargo", Sensitive::Build),
    (".claude", Sensitive::Editor),
    (".cursor", Sensitive::Editor),
    (".devcontainer", Sensitive::Editor),
    (".idea", Sensitive::Editor),
    (".vscode", Sensitive::Editor),
    (".circleci", Sensitive::Pipeline),
    (".github", Sensitive::Pipeline),
    (".ssh", Sensitive::Access),
];

/// Names in `.git` (also of a submodule) that say what git runs, or are run.
const OF_GIT: &[&str] = &["hooks", "config", "config.worktree", "attributes"];

/// Why a change at a path is worth a second look.
pub(crate) fn of(path: &RelPath, before: Option<&Node>, after: Option<&Node>) -> Vec<Sensitive> {
    let mut found = Vec::new();
    let mut note = |one: Sensitive| {
        if !found.contains(&one) {
            found.push(one);
        }
    };
    let is = |name: &[u8], other: &str| name.eq_ignore_ascii_case(other.as_bytes());
    let mut in_git = false;
    for name in path.names() {
        if in_git && OF_GIT.iter().any(|one| is(name, one)) {
            note(Sensitive::Git);
        }
        in_git |= is(name, ".git");
        FOLDERS.iter().filter(|(folder, _)| is(name, folder)).for_each(|(_, why)| note(*why));
    }
    if let Some((_, last)) = path.split() {
        FILES.iter().filter(|(file, _)| is(last, file)).for_each(|(_, why)| note(*why));
        // A file of this name stands for a folder elsewhere: git reads hooks and settings from there.
        let is_folder = |node: Option<&Node>| node.is_some_and(|node| node.kind == Kind::Folder);
        if is(last, ".git") && !(is_folder(after) && before.is_none_or(|before| is_folder(Some(before)))) {
            note(Sensitive::Git);
        }
    }
    let executable = |node: &Node| node.kind == Kind::File && node.mode & 0o111 != 0;
    if after.is_some_and(executable) && !before.is_some_and(executable) {
        note(Sensitive::Executable);
    }
    found
}
