//! What was typed, and nothing more. No file is read and no default is looked up here.
//!
//! The larger groups of commands have files of their own: [`tool`], [`audit`], [`serving`], [`mcp`], [`sandbox`], [`image`].
//! Where each works is in [`place`].

pub(crate) mod audit;
pub(crate) mod image;
pub(crate) mod mcp;
pub(crate) mod place;
pub(crate) mod sandbox;
pub(crate) mod serving;
pub(crate) mod tool;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

/// Walls for the code of AI agents: tools and commands that do no more than they declare.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, propagate_version = true, max_term_width = 100)]
#[command(disable_help_flag = true, disable_version_flag = true)]
#[command(
    after_help = "Exit codes: 0 fine, 1 the code failed, 2 bad input, 3 denied or declined, 4 a limit, 5 our fault."
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
    /// Print help
    #[arg(short, long, global = true, help_heading = "Options of every command", action = ArgAction::Help)]
    help: Option<bool>,
    /// Print version
    #[arg(short = 'V', long, global = true, help_heading = "Options of every command", action = ArgAction::Version)]
    version: Option<bool>,
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
    /// Ask this server instead of a data folder [env: `BAILIWICK_SERVER`]
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The file of its key [env: `BAILIWICK_KEY_FILE`; the key: `BAILIWICK_KEY`]
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve tools over HTTP, until a signal comes
    Serve(serving::Serve),
    /// Run code in a cell of its own: result on stdout, console on stderr as it happens
    Run(Run),
    /// Run a command in a sandbox of its own; exits as the command does
    Exec(sandbox::Exec),
    /// Sandboxes that outlive a command: make, use, copy files, put to sleep, remove
    #[command(subcommand)]
    Sandbox(sandbox::Sandbox),
    /// Images that sandboxes can begin with: list, pull, import, remove
    #[command(subcommand)]
    Image(image::Image),
    /// The pure function: a JSON request on stdin, its output on stdout, nothing else exists
    Jsrun(Jsrun),
    /// Which walls stand here, seen by trying to break them, and how fast cells are
    Doctor(Doctor),
    /// Have a fresh cell try to break its wall
    #[command(hide = true)]
    Probe(Probe),
    /// Tools: write, check, test, publish and call them; the catalogue
    #[command(subcommand)]
    Tool(tool::Tool),
    /// Serve the agent that starts this, over stdio; or connect one
    Mcp(mcp::Mcp),
    /// Calls that wait for a person: look at them and answer; a live view at a terminal
    Approvals(serving::Approvals),
    /// Keys of the server: make, list and revoke them
    #[command(subcommand)]
    Key(serving::Key),
    /// The record of what was done: look at it, prove it, give it away
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Hold the data folder until a signal comes, so that other commands go through this process
    #[command(hide = true)]
    Own(Own),
    /// The effective policy of a tool: what it may do, why, and what an edit would change
    #[command(subcommand)]
    Policy(Policy),
    /// The settings in force, and where each came from
    #[command(subcommand)]
    Config(Config),
    /// What code finds when it runs: globals, blocked names, limits, fetch
    Limits(Limits),
    /// Secrets that tools refer to by name: kept encrypted, never shown
    #[command(subcommand)]
    Secret(Secret),
    /// Let a folder's own bailiwick.toml widen from now on, as it is (by hash)
    Trust(Trust),
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions(Completions),
    /// Print the manual page, or write all of them to a folder
    #[command(hide = true)]
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
    /// Run a tool or a file, see what it asks for, and propose the least overrides that would do
    ///
    /// A tool's tests are run with their canned answers; without tests it is run once. Requests get answers only from
    /// --http or the tests, and files are only read, unless --live is given. Exits with 0 when the code ran to its end.
    Learn(Learn),
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

/// `bailiwick run`
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").args(["file", "eval", "print"])))]
pub(crate) struct Run {
    /// A .js or .ts file, or a tool document (.yaml, .yml, .json); `-` is code on stdin
    #[arg(required_unless_present_any = ["eval", "print", "replay"])]
    pub(crate) file: Option<PathBuf>,
    /// Run this code: the body of an async function, `return` gives the result
    #[arg(short, long, value_name = "CODE")]
    pub(crate) eval: Option<String>,
    /// Run this expression and give its value
    #[arg(short, long, value_name = "EXPR")]
    pub(crate) print: Option<String>,
    /// The shape of the code [default: body]
    #[arg(long, value_name = "MODE", value_parser = ["body", "execute", "emit"], conflicts_with = "print")]
    pub(crate) entry: Option<String>,
    /// An argument: VALUE is JSON where it is valid JSON, else text
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(crate) arg: Vec<String>,
    /// What `read_input()` gives, with --entry emit
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// All arguments, as one JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// The wall-clock limit of this run, for example 500ms
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
    /// The memory limit of this run, for example 16MiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    #[command(flatten)]
    pub(crate) outside: OutsideFlags,
    /// Keep the call in this file, to be given again with --replay
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "check"])]
    pub(crate) record: Option<PathBuf>,
    /// Give the call in this file again, without a network, under the policy that is typed beside it (the tool, or
    /// --overrides); code beside it takes the place of the recorded code
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arg", "args", "input", "http", "check"])]
    pub(crate) replay: Option<PathBuf>,
    /// Only validate the code, and tell what would not work
    #[arg(long, conflicts_with = "no_check")]
    pub(crate) check: bool,
    /// Run it without validating it first
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Ties this run to what caused it
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// What the code meets outside its cell.
#[derive(Debug, Args)]
pub(crate) struct OutsideFlags {
    /// Answer requests from this file in place of the network: a list of {request, response}
    #[arg(long, value_name = "FILE")]
    pub(crate) http: Option<PathBuf>,
    /// The workspace of its files [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// Say yes wherever a grant asks a person first
    #[arg(long)]
    pub(crate) yes: bool,
}

/// `bailiwick policy learn`
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// A .js or .ts file, or a tool document with its tests
    pub(crate) file: PathBuf,
    /// An argument: VALUE is JSON where it is valid JSON, else text
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(crate) arg: Vec<String>,
    /// All arguments, as one JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// A profile of the operator's file
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Make real requests and change real files of the workspace
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) outside: OutsideFlags,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// How cells are made.
#[derive(Debug, Args)]
pub(crate) struct CellFlags {
    /// Run even where the walls are below the floor; every report then says `insecure`
    #[arg(long)]
    pub(crate) insecure_cells: bool,
}

/// `bailiwick jsrun`
#[derive(Debug, Args)]
pub(crate) struct Jsrun {
    /// Read one request a line, and answer one line each, in order
    #[arg(long)]
    pub(crate) batch: bool,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick own`
#[derive(Debug, Args)]
pub(crate) struct Own {
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick doctor`
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Say what would give the rest, one line each
    #[arg(long)]
    pub(crate) fix: bool,
    /// Look at backends that are off, too: those that sandbox.backends does not list
    #[arg(long, conflicts_with = "backend")]
    pub(crate) all: bool,
    /// Look at this backend and no other, also where it is off
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick probe`
#[derive(Debug, Args)]
pub(crate) struct Probe {
    /// A system call by name, or panic, allocation, overflow, fault, abort
    pub(crate) name: String,
    /// The arguments of the system call
    #[arg(num_args = 0..=6)]
    pub(crate) arguments: Vec<u64>,
}

/// `bailiwick secret …`
#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Set a secret: asked for on a terminal, else read from stdin; never an argument
    Set(SecretSet),
    /// List the names and where each value comes from; never a value
    List,
    /// Remove a secret; asks first on a terminal
    Rm(SecretRm),
    /// Give a secret that is there another value, or the whole store another key
    Rotate(SecretRotate),
}

/// `bailiwick secret set`
#[derive(Debug, Args)]
pub(crate) struct SecretSet {
    /// Its name: A-Z, 0-9 and `_`, for example GITHUB_TOKEN
    #[expect(clippy::doc_markdown, reason = "help text for people, not for rustdoc")]
    pub(crate) name: String,
}

/// `bailiwick secret rm`
#[derive(Debug, Args)]
pub(crate) struct SecretRm {
    /// Its name
    pub(crate) name: String,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `bailiwick secret rotate`
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SecretRotate {
    /// The secret whose value changes; the new one is asked for, or read from stdin
    pub(crate) name: Option<String>,
    /// Make a new key, and seal every secret anew under it
    #[arg(long)]
    pub(crate) key: bool,
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
