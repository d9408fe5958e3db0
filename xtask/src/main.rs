//! The workspace's own chores: `cargo run -p xtask -- <command>`.
//!
//! This file only turns what was typed into one row of [`COMMANDS`] and the
//! row's verdict into an exit code. A new command is a module with a
//! `run(&[OsString]) -> Result<Verdict, Fault>` and a row here. Files are read
//! in [`disk`] and lines are printed in [`output`]; nothing else touches either.

mod disk;
mod generated;
mod output;
mod tidy;
mod tree;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::process::ExitCode;

/// One chore, as the usage text and the dispatch see it.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[OsString]) -> Result<Verdict, Fault>,
}

/// Every chore there is.
const COMMANDS: &[Command] = &[
    Command {
        name: "tidy",
        arguments: "[--root DIR]",
        about: "check the tree against the architecture and report every breach",
        run: tidy::run,
    },
    Command {
        name: "gen",
        arguments: "[--check]",
        about: "write the documents made from the tables in the code, or say which are not current",
        run: generated::run,
    },
];

/// What a chore that ran to its end has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing to complain about.
    Clean,
    /// The tree is at fault, and what is wrong was printed.
    Findings,
}

/// Why a chore did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// What was typed is not a command.
    #[error("{complaint}\n\n{}", usage())]
    Usage {
        /// What was wrong with it.
        complaint: String,
    },
    /// The tree could not be read.
    #[error(transparent)]
    Read(#[from] disk::ReadError),
    /// A generated document could not be read or written.
    #[error(transparent)]
    Document(#[from] bailiwick_config::files::FileError),
    /// What the specs come to on a backend does not make sense.
    #[error("{file}: {why}")]
    Verdicts {
        /// Where it is written.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The findings could not be printed.
    #[error("cannot print: {0}")]
    Print(#[source] std::io::Error),
}

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    match dispatch(&typed) {
        Ok(Verdict::Clean) => ExitCode::SUCCESS,
        Ok(Verdict::Findings) => ExitCode::from(1),
        Err(fault) => {
            output::complain(&fault);
            ExitCode::from(2)
        }
    }
}

/// Runs the command named first, with the rest as its arguments.
fn dispatch(typed: &[OsString]) -> Result<Verdict, Fault> {
    let Some((name, arguments)) = typed.split_first() else {
        return Err(Fault::Usage { complaint: "no command".to_owned() });
    };
    if ["help", "--help", "-h"].iter().any(|help| name == help) {
        output::lines([usage()]).map_err(Fault::Print)?;
        return Ok(Verdict::Clean);
    }
    match COMMANDS.iter().find(|command| name == command.name) {
        Some(command) => (command.run)(arguments),
        None => Err(Fault::Usage { complaint: format!("unknown command `{}`", name.display()) }),
    }
}

/// The usage text, made from [`COMMANDS`].
fn usage() -> String {
    let mut text = "usage: cargo run -p xtask -- <command>\n".to_owned();
    for Command { name, arguments, about, run: _ } in COMMANDS {
        text.push_str("\n  ");
        text.push_str(name);
        text.push(' ');
        text.push_str(arguments);
        text.push_str("\n      ");
        text.push_str(about);
    }
    text
}
