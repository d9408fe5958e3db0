//! `bailiwick mcp …` as it was typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::CellFlags;

/// `bailiwick mcp`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick mcp …`
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Print what connects a client, alone on stdout, and say where it belongs
    Config(McpConfig),
    /// Write it into the client's file, after a yes, with a copy of what was there
    ///
    /// Everything else in the file stays as it is. A file that is not plain JSON (or TOML) is never touched.
    Install(McpInstall),
}

/// The clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    #[value(name = "vscode")]
    VsCode,
    /// Codex: the command line, the editors' extension and the app
    Codex,
}

/// What is connected, how, and where that is written.
#[derive(Debug, Args)]
pub(crate) struct McpEntry {
    /// Which client
    pub(crate) client: Client,
    /// Over HTTP: to this address, or to the server of the data folder [default: over stdio]
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "the flag may stand alone")]
    pub(crate) http: Option<Option<String>>,
    /// Have the client send the key that it finds in this variable, or asks for [default: BAILIWICK_KEY]
    #[expect(clippy::doc_markdown, reason = "help text for people, not for rustdoc")]
    #[arg(long, value_name = "NAME", num_args = 0..=1, requires = "http")]
    #[expect(clippy::option_option, reason = "the flag may stand alone")]
    pub(crate) key_env: Option<Option<String>>,
    /// What the client calls it
    #[arg(long, value_name = "NAME", default_value = "bailiwick")]
    pub(crate) name: String,
    /// For this folder only, in the file that the client reads there
    #[arg(long)]
    pub(crate) project: bool,
    /// This file in place of the client's usual one
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub(crate) file: Option<PathBuf>,
}

/// `bailiwick mcp config`
#[derive(Debug, Args)]
pub(crate) struct McpConfig {
    #[command(flatten)]
    pub(crate) entry: McpEntry,
}

/// `bailiwick mcp install`
#[derive(Debug, Args)]
pub(crate) struct McpInstall {
    #[command(flatten)]
    pub(crate) entry: McpEntry,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Write over an entry of this name that is another one
    #[arg(long)]
    pub(crate) replace: bool,
    /// Take it out again
    #[arg(long, conflicts_with_all = ["http", "key_env", "replace"])]
    pub(crate) remove: bool,
}
