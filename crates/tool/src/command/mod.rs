//! What a tool runs in a command sandbox: the closed block `command`, read and checked, and how arguments fill it.
//!
//! A word of a command is a word whatever is in it: an argument fills a slot inside of its own word and can never become
//! another one, nor an option that its author did not write. Nothing here starts anything or looks at a path of the host.
//!
//! Start reading at `template` (slots), then `words` (what a list of words promises), then `fill`.

mod code_words;
mod fill;
mod json;
mod python;
mod read;
mod template;
mod words;

use std::collections::BTreeMap;

use bailiwick_sandbox::{Image, Limit, Mount, Network};
use bailiwick_types::Tier;

pub use fill::{Filled, Unfit};
pub(crate) use read::Around;
pub use template::Template;
pub use words::{Item, Word};

/// Words of one command, groups counted by what is in them.
pub(crate) const MOST_WORDS: usize = 256;
/// Variables of one command.
pub(crate) const MOST_VARIABLES: usize = 64;
/// Exit codes that can be fine.
pub(crate) const MOST_EXITS: usize = 16;

/// What a tool runs in a command sandbox, and in which.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandBlock {
    pub(crate) runs: Runs,
    pub(crate) stdin: Option<Template>,
    pub(crate) env: Vec<(String, Template)>,
    pub(crate) image: Image,
    pub(crate) min_tier: Option<Tier>,
    pub(crate) network: Network,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) limits: BTreeMap<Limit, String>,
    pub(crate) output: Gives,
    pub(crate) ok_exit: Vec<u8>,
}

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub enum Runs {
    /// A program with words.
    Argv(Vec<Item>),
    /// A script in Python: the body of a function whose parameters are the tool's.
    Python(String),
}

/// How standard output becomes the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Gives {
    /// As one text, as it is.
    #[default]
    Text,
    /// As the JSON value that it is.
    Json,
    /// As a list of lines.
    Lines,
}

impl Gives {
    /// The words of a document.
    pub const WORDS: [(&'static str, Self); 3] =
        [("text", Self::Text), ("json", Self::Json), ("lines", Self::Lines)];

    /// The word of a document.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Lines => "lines",
        }
    }
}

impl CommandBlock {
    /// What is run.
    pub const fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Which files the sandbox begins with.
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// The weakest wall that its author accepts; the operator's floor holds as well.
    pub const fn min_tier(&self) -> Option<Tier> {
        self.min_tier
    }

    /// What it can reach.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// What of the host is in it. Whether that may be is not known here.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// The limits that differ from the operator's preset, as they are written.
    pub const fn limits(&self) -> &BTreeMap<Limit, String> {
        &self.limits
    }

    /// How standard output becomes the result.
    pub const fn output(&self) -> Gives {
        self.output
    }

    /// Whether the command did well by its exit code.
    pub fn is_ok_exit(&self, code: i32) -> bool {
        self.ok_exit.iter().any(|fine| i32::from(*fine) == code)
    }

    /// Whether a run of it can change or reach anything beyond its sandbox.
    pub fn reaches_out(&self) -> bool {
        self.network != Network::None || self.mounts.iter().any(|mount| mount.writable)
    }
}
