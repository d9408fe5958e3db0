//! `bailiwick mcp config` and `mcp install`, as whoever connects a client meets them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what these tests find otherwise than they left it ends them"
)]

mod config;
mod install;
mod left_alone;
mod terminal;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use bailiwick_testkit::{Program, Run};

use super::bailiwick;

/// A client, the file it reads below the home folder, and a file of it as a person would have it, with the entry of
/// another server whose key must not be shown.
struct Known {
    client: &'static str,
    file: &'static str,
    projects: Option<&'static str>,
    before: &'static str,
}

const CLIENTS: &[Known] = &[
    Known {
        client: "claude-code",
        file: ".claude.json",
        projects: Some(".mcp.json"),
        before: "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"npx\", \"env\": {\"KEY\": \"s3cret\"}}\n  },\n  \"projects\": {\"/x\": {}}\n}\n",
    },
    Known {
        client: "claude-desktop",
        file: ".config/Claude/claude_desktop_config.json",
        projects: None,
        before: "{\n\t\"theme\": \"dark\",\n\t\"mcpServers\": {\n\t\t\"other\": {\"env\": {\"KEY\": \"s3cret\"}}\n\t}\n}",
    },
    Known {
        client: "cursor",
        file: ".cursor/mcp.json",
        projects: Some(".cursor/mcp.json"),
        before: "{\"mcpServers\":{\"other\":{\"url\":\"https://other.test/s3cret\"}}}",
    },
    Known {
        client: "vscode",
        file: ".config/Code/User/mcp.json",
        projects: Some(".vscode/mcp.json"),
        before: "{\r\n    \"servers\": {\r\n        \"other\": {\"type\": \"http\", \"url\": \"https://other.test/s3cret\"}\r\n    }\r\n}\r\n",
    },
    Known {
        client: "codex",
        file: ".codex/config.toml",
        projects: Some(".codex/config.toml"),
        before: "model = \"gpt\" # the large one\n\n[mcp_servers.other]\ncommand = \"npx\"\nenv = { KEY = \"s3cret\" }\n\n# how I like it\n[tui]\ntheme = 'dark'\n",
    },
];

#[track_caller]
fn check(run: &Run, code: i32, stdout: &str, stderr: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(run.stdout.contains(stdout) && run.stderr.contains(stderr), "{run:?}");
}

/// A file of the machine under test.
#[expect(clippy::disallowed_methods, reason = "a file that the program under test wrote")]
#[track_caller]
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file below a folder with its permissions and content, in order.
#[expect(clippy::disallowed_methods, reason = "files that the program under test wrote")]
fn everything(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            all.push((path.display().to_string(), metadata.permissions().mode(), content));
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    all.sort();
    all
}

/// What was kept of a file, by name.
fn kept(file: &Path) -> Vec<std::path::PathBuf> {
    let begin = format!("{}.bailiwick-backup-", file.file_name().unwrap().to_str().unwrap());
    let entries = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_kept = |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&begin);
    let mut all: Vec<_> = entries.filter(is_kept).collect();
    all.sort();
    all
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The path of the program under test, as it is shown, goes by another name each time.
fn steady(text: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_bailiwick")).canonicalize().unwrap();
    text.replace(program.to_str().unwrap(), "[PROGRAM]")
}

fn with_home(file: &str, text: &str) -> Program {
    bailiwick().with_home_file(file, text)
}
