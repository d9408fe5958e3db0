//! What was typed, and nothing more. No file is read and no default is looked up here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Walls for the code of AI agents: tools and commands that do no more than they declare.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 fine, 1 the code failed, 2 usage or bad input, 3 denied or declined, 4 a limit, 5 our fault."
)]
pub(crate) struct Typed {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print one JSON object instead of text for people
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(crate) json: bool,
    /// Leave out notes and hints
    #[arg(short, long, global = true, help_heading = "Options of every command")]
    pub(crate) quiet: bool,
    /// Tell more: where each value came from
    #[arg(short, long, global = true, help_heading = "Options of every command")]
    pub(crate) verbose: bool,
    /// Read this file instead of ~/.config/bailiwick/ and /etc/bailiwick/
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The data folder [default: ~/.local/share/bailiwick; env: `BAILIWICK_DATA`]
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Set one key of the configuration, for example limits.wall=3s
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The effective policy of a tool: what it may do, why, and what an edit would change
    #[command(subcommand)]
    Policy(Policy),
    /// The settings in force, and where each came from
    #[command(subcommand)]
    Config(Config),
    /// What code finds when it runs: globals, blocked names, limits, fetch
    Limits(Limits),
    /// Let a folder's own bailiwick.toml widen from now on, as it is (by hash)
    Trust(Trust),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write all of them to a folder
    Man(Man),
}

/// `bailiwick policy …`
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Show the effective policy with its risk badge
    Show(Show),
    /// Say yes or no to one question, and why; on no, the narrowest fix and the risk it would bring
    ///
    /// Questions: `fetch URL`, `POST URL`, `read PATH`, `write PATH`, `delete PATH`, or a capability such as
    /// `timers`. Exits with 0 on yes (also when a person is asked first) and with 3 on no.
    Explain(Explain),
    /// Compare two documents: newly allowed, newly denied, change of risk
    Diff(Diff),
}

/// Whose policy.
#[derive(Debug, Args)]
pub(crate) struct Subject {
    /// A document of overrides (YAML, JSON or TOML), or one with `profile`, `overrides` and `limits`; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) overrides: Option<PathBuf>,
    /// A profile of the operator's file
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

/// `bailiwick policy show`
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) subject: Subject,
}

/// `bailiwick policy explain`
#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// The question, for example 'fetch <https://api.github.com/x>'
    #[arg(long, value_name = "QUESTION")]
    pub(crate) query: String,
}

/// `bailiwick policy diff`
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// The document as it was
    pub(crate) before: PathBuf,
    /// The document as it would be
    pub(crate) after: PathBuf,
    /// A profile of the operator's file, for both unless a document names its own
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

/// `bailiwick config …`
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting
    Show(ConfigShow),
}

/// `bailiwick config show`
#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// Say where each value came from
    #[arg(long)]
    pub(crate) origin: bool,
    /// Print the documented default file instead
    #[arg(long, conflicts_with = "origin")]
    pub(crate) defaults: bool,
}

/// `bailiwick limits`
#[derive(Debug, Args)]
pub(crate) struct Limits {
    #[command(flatten)]
    pub(crate) subject: Subject,
}

/// `bailiwick trust`
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Trust {
    /// The file to trust with its present content
    pub(crate) file: Option<PathBuf>,
    /// List what is trusted
    #[arg(long)]
    pub(crate) list: bool,
    /// Trust this file no longer
    #[arg(long, value_name = "FILE")]
    pub(crate) forget: Option<PathBuf>,
}

/// `bailiwick completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// `bailiwick man`
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write a page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
