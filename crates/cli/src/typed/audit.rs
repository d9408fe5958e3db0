//! `bailiwick audit …` as it was typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bailiwick audit …`
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// The newest records
    Tail(Tail),
    /// What belongs together, in full: a record, a call, or everything of a correlation id
    Show(Show),
    /// Prove the chain: no record was changed, moved or taken out
    ///
    /// Exits with 0 when nothing is wrong and with 1 when the chain is broken. With FILE an export is proven instead,
    /// with the public key that `audit verify` prints where the record is kept.
    Verify(Verify),
    /// Give the records as lines of JSON, with the signed heads among them
    Export(Export),
    /// Remove the oldest records, as far as a signed head allows; the rest stays provable
    Retain(Retain),
}

/// `bailiwick audit tail`
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// So many
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) lines: u32,
    /// Go on with what comes, until Ctrl-C
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// `bailiwick audit show`
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Show {
    /// The number of a record, a call id or a correlation id
    pub(crate) id: Option<String>,
    /// A correlation id
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
}

/// `bailiwick audit verify`
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// An export, in place of the record of the data folder
    #[arg(requires = "key")]
    pub(crate) file: Option<PathBuf>,
    /// The public key that its heads must be signed with, in hex
    #[arg(long, value_name = "HEX", requires = "file")]
    pub(crate) key: Option<String>,
}

/// `bailiwick audit export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Write them to this file, whole or not at all, in place of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Begin at this record
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub(crate) from: u64,
}

/// `bailiwick audit retain`
#[derive(Debug, Args)]
#[group(id = "bound", required = true, multiple = true, args = ["days", "records"])]
pub(crate) struct Retain {
    /// Keep what is younger than so many days
    #[arg(long, value_name = "N")]
    pub(crate) days: Option<u32>,
    /// Keep at most so many records
    #[arg(long, value_name = "N")]
    pub(crate) records: Option<u64>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
