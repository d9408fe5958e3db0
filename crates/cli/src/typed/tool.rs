//! `bailiwick tool …` as it was typed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::CellFlags;

/// `bailiwick tool …`
#[derive(Debug, Subcommand)]
pub(crate) enum Tool {
    /// Write a first version of a tool, with a test; on a terminal it asks for what is not given
    New(New),
    /// Look at documents: their rules, their code, their texts, their badge. Runs nothing
    ///
    /// Exits with 2 when something stands in the way of a pass.
    Check(Check),
    /// Run the tests of tools, under exactly the policy that callers will get
    ///
    /// A file is tried and nothing is kept; a tool of the catalogue keeps its Local Pass. Exits with 1 when a test
    /// failed, with 3 when the policy denied something, with 2 for a document that is wrong.
    Test(Test),
    /// Publish a tool of the catalogue, or take a document in, pass it and publish it in one step
    Publish(Publish),
    /// Take a tool off the list of published ones
    Unpublish(Named),
    /// Remove a tool from the catalogue; asks first on a terminal
    Rm(Rm),
    /// List the tools of the catalogue
    List(List),
    /// Show a tool: state, badge with its reasons, approval, pass, hashes, what a model sees
    Show(Show),
    /// Publish documents of a folder: each is taken in, tested and published; what is unchanged is left alone
    ///
    /// A document that fails changes nothing that is published; a new one is kept as a draft. Exits with 0 when every
    /// document is published, else with 1.
    Apply(Apply),
    /// Take documents into the catalogue: all of them, or none. New and changed ones are drafts until they are published
    Import(Import),
    /// Write tools as documents into a folder, so that they can live in git
    Export(Export),
    /// Call a published tool: result on stdout, console lines on stderr as they happen
    Call(Call),
}

/// `bailiwick tool new`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct New {
    /// Its name: a-z, then a-z, 0-9, `_` or `-`
    pub(crate) name: Option<String>,
    /// What people call it
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// What it does, for the model that chooses it
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// A parameter: `!` marks it required, for example city:string!=Berlin
    #[arg(long = "param", value_name = "NAME:TYPE[!][=TESTVALUE]")]
    pub(crate) params: Vec<String>,
    /// Its category, for example TEXT or WEB
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
    /// Hosts that it may fetch from
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    pub(crate) net: Vec<String>,
    /// It may read files of its workspace
    #[arg(long)]
    pub(crate) read: bool,
    /// It may write files of its workspace
    #[arg(long)]
    pub(crate) write: bool,
    /// It runs a program in a command sandbox, and no code of its own
    #[arg(long, conflicts_with_all = ["net", "read", "write", "language"])]
    pub(crate) command: bool,
    /// Write it to this file [default: NAME.tool.yaml, NAME.js or NAME.ts]
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// What it is written in; js and ts have the fields in a comment at the top
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) language: Option<Written>,
    /// Write over a file that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Ask nothing: what is not given is left out
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// What a new document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Written {
    /// JavaScript with the fields in front
    Js,
    /// TypeScript with the fields in front
    Ts,
    /// YAML with the code in it
    Yaml,
}

/// `bailiwick tool check`
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Files, or folders that are searched for `*.tool.yaml`, `*.tool.json`, and `.js` and `.ts` with fields at the top
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick tool test`
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").args(["targets", "all", "stale"]).required(true)))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Test {
    /// Files and folders, or names of the catalogue
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Every tool of the catalogue
    #[arg(long)]
    pub(crate) all: bool,
    /// The tools whose policy became wider since their pass
    #[arg(long)]
    pub(crate) stale: bool,
    /// Runs without canned answers of their own reach the network
    #[arg(long)]
    pub(crate) live: bool,
    /// Run them again when a file is saved, until Ctrl-C
    #[arg(long, conflicts_with_all = ["all", "stale"])]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick tool publish`
#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// A file, or a name of the catalogue
    pub(crate) target: String,
    /// Why a tool of L4 or L5 is worth it
    #[arg(long, value_name = "TEXT")]
    pub(crate) justification: Option<String>,
    /// Why texts that trip the scan are fine; it is on the record
    #[arg(long, value_name = "REASON")]
    pub(crate) despite_scan: Option<String>,
    /// Say yes where approval is turned off
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// A tool of the catalogue.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Its name or id
    pub(crate) name: String,
}

/// `bailiwick tool rm`
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Its name or id
    pub(crate) name: String,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// `bailiwick tool list`
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those in this state, for example PUBLISHED
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
}

/// `bailiwick tool show`
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Its name or id
    pub(crate) name: String,
    /// Only what a model sees
    #[arg(long)]
    pub(crate) definition: bool,
}

/// `bailiwick tool import`
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").args(["paths", "preset"]).required(true)))]
pub(crate) struct Import {
    /// Files and folders
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Tools that ship: starter, files, web or everything
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Read documents of another program: spring (Spring AI Playground)
    #[arg(long, value_name = "PROGRAM", conflicts_with = "preset")]
    pub(crate) from: Option<Program>,
    /// Say yes where approval is turned off
    #[arg(long)]
    pub(crate) approval_off: bool,
}

/// `bailiwick tool apply`
#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Why tools of L4 and L5 are worth it: for all of them, or for one level (L4=TEXT); repeat it for the other
    #[arg(long = "reason", value_name = "[LEVEL=]TEXT")]
    pub(crate) reasons: Vec<String>,
    /// Say yes where approval is turned off
    #[arg(long)]
    pub(crate) approval_off: bool,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// A program whose documents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Program {
    /// Spring AI Playground
    Spring,
}

/// `bailiwick tool export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Their names or ids; none for all
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The folder; one NAME.tool.yaml each
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: PathBuf,
    /// Write over files that differ
    #[arg(long)]
    pub(crate) force: bool,
}

/// `bailiwick tool call`
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// Its name or id
    pub(crate) name: String,
    /// An argument: VALUE is text where the parameter is, else JSON where it is valid JSON, else text
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(crate) arg: Vec<String>,
    /// All arguments, as one JSON object; `-` reads it from stdin
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Ties this call to what caused it
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
    /// The workspace of its files, private to you unless `fs.sharedWorkspaces` lists it [default: one of the tool's own]
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// Say yes where a person is asked first; it is on the record
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}
