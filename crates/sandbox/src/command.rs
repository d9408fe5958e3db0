//! A command: a list of words, never a line that somebody splits. A shell is asked for by name or not at all.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;

use crate::spec::check_environment;
use crate::{SandboxError, SandboxPath};

/// The most bytes of all words together.
pub const MOST_ARGUMENTS: usize = 1 << 20;
/// The longest word: what the kernel takes.
pub const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;
/// The most words.
pub const MOST_WORDS: usize = 8192;
/// The most input that can be given at once.
pub const MOST_INPUT: usize = 64 << 20;

/// A shell that reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shell {
    /// None: the words are the command.
    #[default]
    None,
    /// `/bin/sh -c`, because whoever asked said so. The record says it too.
    Sh,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// Why words are not a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There are none.
    #[error("there is no command: the list of words is empty")]
    Empty,
    /// The first word is empty.
    #[error("the name of the program is empty")]
    NoProgram,
    /// A word has a NUL.
    #[error("word {0} has a NUL in it")]
    Nul(usize),
    /// A word is too long.
    #[error("word {index} has {bytes} bytes, and the longest that the system takes has {LONGEST_ARGUMENT}")]
    WordTooLong {
        /// Which, from 0.
        index: usize,
        /// How long it is.
        bytes: usize,
    },
    /// All of them are too long.
    #[error("the words have {0} bytes together, and at most {MOST_ARGUMENTS} are taken")]
    TooLong(usize),
    /// There are too many.
    #[error("there are {0} words, and at most {MOST_WORDS} are taken")]
    TooMany(usize),
    /// The input is too long.
    #[error("the input has {0} bytes, and at most {MOST_INPUT} are taken at once")]
    Input(usize),
    /// A deadline of nothing.
    #[error("a command needs some time: its timeout is zero")]
    NoTime,
    /// A terminal of nothing.
    #[error("a terminal needs at least one line and one column")]
    NoWindow,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    argv: Vec<String>,
    shell: Shell,
    /// Where it begins; the sandbox's own place where there is none.
    pub cwd: Option<SandboxPath>,
    /// Variables beside the sandbox's.
    pub env: BTreeMap<String, String>,
    /// What is on its standard input; nothing where there is none. With [`Command::piped`] more can follow.
    pub input: Bytes,
    /// Whether more input comes while it runs.
    pub piped: bool,
    /// Its own deadline, where it is sooner than the sandbox's.
    pub timeout: Option<Duration>,
    /// A terminal of this size instead of three streams.
    pub terminal: Option<Window>,
}

impl Command {
    /// A command of these words. The first is the program: a path, or a name that is looked for in PATH.
    pub fn new<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Result<Self, CommandError> {
        let argv: Vec<String> = words.into_iter().map(Into::into).collect();
        match argv.first() {
            None => return Err(CommandError::Empty),
            Some(program) if program.is_empty() => return Err(CommandError::NoProgram),
            Some(_) => {}
        }
        if argv.len() > MOST_WORDS {
            return Err(CommandError::TooMany(argv.len()));
        }
        let mut all = 0_usize;
        for (index, word) in argv.iter().enumerate() {
            if word.contains('\0') {
                return Err(CommandError::Nul(index));
            }
            if word.len() > LONGEST_ARGUMENT {
                return Err(CommandError::WordTooLong { index, bytes: word.len() });
            }
            all = all.saturating_add(word.len()).saturating_add(1);
        }
        if all > MOST_ARGUMENTS {
            return Err(CommandError::TooLong(all));
        }
        Ok(Self {
            argv,
            shell: Shell::None,
            cwd: None,
            env: BTreeMap::new(),
            input: Bytes::new(),
            piped: false,
            timeout: None,
            terminal: None,
        })
    }

    /// A text for `/bin/sh`. The record says that a shell read it.
    pub fn shell(text: &str) -> Result<Self, CommandError> {
        let command = Self::new(["/bin/sh", "-c", text])?;
        Ok(Self { shell: Shell::Sh, ..command })
    }

    /// Whether it can be run at all: its fields are open, so whoever runs it looks again.
    pub fn check(&self) -> Result<(), SandboxError> {
        check_environment(&self.env)?;
        if self.input.len() > MOST_INPUT {
            return Err(CommandError::Input(self.input.len()).into());
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(CommandError::NoTime.into());
        }
        if self.terminal.is_some_and(|window| window.rows == 0 || window.columns == 0) {
            return Err(CommandError::NoWindow.into());
        }
        Ok(())
    }

    /// How long it may run in a sandbox with this deadline: the sooner of the two.
    pub fn deadline(&self, sandbox: Duration) -> Duration {
        self.timeout.map_or(sandbox, |own| own.min(sandbox))
    }

    /// Its words; at least one.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Whether a shell reads a text.
    pub const fn is_shell(&self) -> bool {
        matches!(self.shell, Shell::Sh)
    }

    /// With this input and no more.
    pub fn with_input(mut self, input: Bytes) -> Result<Self, CommandError> {
        if input.len() > MOST_INPUT {
            return Err(CommandError::Input(input.len()));
        }
        self.input = input;
        Ok(self)
    }

    /// With a deadline.
    pub fn with_timeout(mut self, timeout: Duration) -> Result<Self, CommandError> {
        if timeout.is_zero() {
            return Err(CommandError::NoTime);
        }
        self.timeout = Some(timeout);
        Ok(self)
    }
}
