//! What is known of each client: where its settings are, what they look like, how it refers to a key, and what it must
//! be told beside them. Checked against their documentation in November 2026.

use std::path::PathBuf;

use bailiwick_config::Environment;

use super::wanted::{Wanted, Way};
use crate::failure::Failure;
use crate::typed::mcp::Client;

/// How a client's file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, with the servers under this key.
    Json(&'static str),
    /// TOML, with the servers in this table.
    Toml(&'static str),
}

impl Format {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json(_) => "json",
            Self::Toml(_) => "toml",
        }
    }
}

/// How a client finds a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyBy {
    /// A variable, referred to in a header by these two around its name.
    Variable(&'static str, &'static str),
    /// It asks a person, once, and keeps the answer encrypted.
    Input,
    /// A field that names the variable.
    Field(&'static str),
}

impl Client {
    /// What it is called when it is typed.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// What people call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }

    /// How its file is written.
    pub(super) fn format(self) -> Format {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => Format::Json("mcpServers"),
            Self::VsCode => Format::Json("servers"),
            Self::Codex => Format::Toml("mcp_servers"),
        }
    }

    /// How it finds a key; none where its file knows no address at all.
    pub(super) fn key_by(self) -> Option<KeyBy> {
        match self {
            Self::ClaudeCode => Some(KeyBy::Variable("${", "}")),
            Self::Cursor => Some(KeyBy::Variable("${env:", "}")),
            // It does not look into the environment for headers.
            Self::VsCode => Some(KeyBy::Input),
            Self::Codex => Some(KeyBy::Field("bearer_token_env_var")),
            Self::ClaudeDesktop => None,
        }
    }

    /// Its file for everything this user does.
    pub(super) fn users_file(self, environment: &Environment) -> Result<PathBuf, Failure> {
        let home = environment.home.clone().ok_or_else(|| Failure::Argument {
            message: format!("HOME does not say where the file of {} is", self.title()),
            hint: "name it: --file FILE".to_owned(),
        })?;
        // The clients' own variables move their whole folder.
        let moved =
            |name: &str| Environment::variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let config = environment.config_home.clone().unwrap_or_else(|| home.join(".config"));
        Ok(match self {
            Self::ClaudeCode => moved("CLAUDE_CONFIG_DIR").unwrap_or(home).join(".claude.json"),
            Self::ClaudeDesktop => config.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::VsCode => config.join("Code/User/mcp.json"),
            Self::Codex => moved("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("config.toml"),
        })
    }

    /// Its file for one folder, where it has one.
    pub(super) fn projects_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".mcp.json"),
            Self::ClaudeDesktop => None,
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::VsCode => Some(".vscode/mcp.json"),
            Self::Codex => Some(".codex/config.toml"),
        }
    }

    /// Where the file is when the client runs on another system, if the place differs.
    pub(super) fn elsewhere(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop => Some(
                "macOS: ~/Library/Application Support/Claude/claude_desktop_config.json, Windows: %APPDATA%\\Claude\\claude_desktop_config.json",
            ),
            Self::VsCode => Some(
                "macOS: ~/Library/Application Support/Code/User/mcp.json, Windows: %APPDATA%\\Code\\User\\mcp.json",
            ),
            Self::ClaudeCode | Self::Cursor | Self::Codex => None,
        }
    }

    /// The command of its own that does the same, where it has one.
    pub(super) fn own_command(self, wanted: &Wanted) -> Option<String> {
        let name = &wanted.name;
        let project = wanted.project;
        let words = match (self, &wanted.way) {
            // What VS Code asks for cannot be said there.
            (Self::ClaudeDesktop | Self::Cursor, _) | (Self::VsCode, Way::Http { key: Some(_), .. }) => {
                return None;
            }
            // These write for the user only.
            (Self::VsCode | Self::Codex, _) if project => return None,
            (Self::ClaudeCode, way) => {
                let scope = if project { "project" } else { "user" };
                let mut words: Vec<String> =
                    ["claude", "mcp", "add", "--scope", scope].into_iter().map(str::to_owned).collect();
                match way {
                    Way::Stdio { command, args } => {
                        words.extend([name.clone(), "--".to_owned(), command.clone()]);
                        words.extend(args.iter().cloned());
                    }
                    Way::Http { url, key } => {
                        words.extend(["--transport".to_owned(), "http".to_owned()]);
                        words.extend([name.clone(), url.clone()]);
                        if let Some(key) = key {
                            let header = format!("Authorization: Bearer ${{{key}}}");
                            words.extend(["--header".to_owned(), header]);
                        }
                    }
                }
                words
            }
            (Self::VsCode, _) => {
                let mut entry = super::snippet::entry(wanted);
                if let Some(fields) = entry.as_object_mut() {
                    fields.shift_insert(0, "name".to_owned(), name.clone().into());
                }
                vec!["code".to_owned(), "--add-mcp".to_owned(), entry.to_string()]
            }
            (Self::Codex, way) => {
                let mut words: Vec<String> =
                    ["codex", "mcp", "add", name.as_str()].into_iter().map(str::to_owned).collect();
                match way {
                    Way::Stdio { command, args } => {
                        words.extend(["--".to_owned(), command.clone()]);
                        words.extend(args.iter().cloned());
                    }
                    Way::Http { url, key } => {
                        words.extend(["--url".to_owned(), url.clone()]);
                        if let Some(key) = key {
                            words.extend(["--bearer-token-env-var".to_owned(), key.clone()]);
                        }
                    }
                }
                words
            }
        };
        Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }

    /// What a person should know before it is written.
    pub(super) fn beforehand(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("Claude Code writes to its file itself while it runs: end it first"),
            Self::ClaudeDesktop | Self::Cursor | Self::VsCode | Self::Codex => None,
        }
    }

    /// What a person should know once it is written.
    pub(super) fn afterwards(self) -> &'static str {
        match self {
            Self::ClaudeCode => {
                "end Claude Code before its file is changed, for it writes there itself; `/mcp` shows it"
            }
            Self::ClaudeDesktop => "quit Claude Desktop and start it again",
            Self::Cursor => "restart Cursor, and switch it on under MCP in its settings",
            Self::VsCode => "`MCP: List Servers` starts it; VS Code asks whether you trust it",
            Self::Codex => "start Codex again; `codex mcp list` shows it",
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
