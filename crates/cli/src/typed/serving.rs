//! `bailiwick serve`, `approvals` and `key` as they were typed.

use std::net::SocketAddr;

use bailiwick_types::Scope;
use clap::{Args, Subcommand};

use super::CellFlags;

/// `bailiwick serve`
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one [default: `server.listen` of the configuration]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// The tools that a first start publishes: starter, files, web, everything or none [default: `server.preset`]
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Listen beyond this machine although nobody has to show who they are
    #[arg(long)]
    pub(crate) insecure_no_auth: bool,
    #[command(flatten)]
    pub(crate) cells: CellFlags,
}

/// `bailiwick approvals`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) verb: Option<ApprovalsVerb>,
}

/// `bailiwick approvals …`
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsVerb {
    /// List the questions that wait
    List,
    /// Show a question in full, with what differs from the last call that was approved
    Show(ApprovalNamed),
    /// Say yes
    Yes(Yes),
    /// Say no
    No(ApprovalNamed),
    /// List the answers that are remembered
    Remembered,
    /// Forget a remembered answer
    Forget(ApprovalNamed),
}

/// A question, or a remembered answer.
#[derive(Debug, Args)]
pub(crate) struct ApprovalNamed {
    /// Its id, or the begin or end of it
    pub(crate) id: String,
}

/// `bailiwick approvals yes`
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("remembered").args(["same_arguments", "same_key"])))]
pub(crate) struct Yes {
    /// Its id, or the begin or end of it
    pub(crate) id: String,
    /// And for calls with identical arguments, for so many minutes
    #[arg(long, value_name = "MINUTES")]
    pub(crate) same_arguments: Option<u32>,
    /// And for every call of this tool with the key that asked, for so many minutes
    #[arg(long, value_name = "MINUTES")]
    pub(crate) same_key: Option<u32>,
}

/// `bailiwick key …`
#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Make a key; it is printed this once, alone on stdout
    Create(KeyCreate),
    /// List the keys, without what opens anything
    List,
    /// Make a key worthless
    Revoke(KeyRevoke),
}

/// `bailiwick key create`
#[derive(Debug, Args)]
pub(crate) struct KeyCreate {
    /// What it is called in records: a-z, then a-z, 0-9, `_` or `-`
    pub(crate) name: String,
    /// What it covers: call, author, approve, operate
    #[arg(long = "scope", value_name = "SCOPE,…", value_delimiter = ',', required = true)]
    pub(crate) scopes: Vec<Scope>,
    /// For how long it holds, for example 12h or 30d [default: until it is revoked]
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// Requests a second that it may make [default: `server.perSecond`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_second: Option<u32>,
    /// Requests that it may have under way [default: `server.atOnce`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) at_once: Option<u32>,
    /// A yes in the dialogue of its MCP client counts as a person's answer, up to `approvals.elicitation`
    #[arg(long)]
    pub(crate) dialogue: bool,
}

/// `bailiwick key revoke`
#[derive(Debug, Args)]
pub(crate) struct KeyRevoke {
    /// Its name or id
    pub(crate) key: String,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
