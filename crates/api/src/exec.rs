//! Commands in sandboxes: what is to be run, what it says while it runs, what came of it, and the messages of a terminal.

use std::collections::BTreeMap;

use bailiwick_core::sandboxes::{
    self as inner, CommandWish, ExecResult, ExecWish, GivenInput, InputBytes, SandboxPath, Target,
};
use bailiwick_core::{Action, Refusal};
use bailiwick_types::{CorrelationId, ErrorCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::shape::shape;
use crate::{Problem, SandboxWish, schema};

/// Makes a shape of a command, with what is said beside it.
macro_rules! command {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        pub struct $name {
            /// Its words; nothing is put through a shell.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub argv: Vec<String>,
            /// A text for `/bin/sh` in place of words.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub shell: Option<String>,
            /// Where it begins.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schema(value_type = Option<String>)]
            pub cwd: Option<SandboxPath>,
            /// Variables beside the sandbox's.
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            pub env: BTreeMap<String, String>,
            /// Its own deadline: `5s`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub timeout: Option<String>,
            /// What caused it; the header `x-correlation-id` where it is not said here.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
            pub correlation_id: Option<CorrelationId>,
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $name {
            /// The command without what is said beside it.
            fn bare(self) -> (CommandWish, Option<CorrelationId>) {
                let Self { argv, shell, cwd, env, timeout, correlation_id, .. } = self;
                (CommandWish { argv, shell, cwd, env, timeout, ..CommandWish::default() }, correlation_id)
            }
        }
    };
}

command! {
    /// A command for a sandbox that is kept.
    Exec {
        /// What is on its standard input, as text.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdin: Option<String>,
        /// The same as base64; one of the two.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        stdin_base64: Option<InputBytes>,
    }
}

command! {
    /// A command for a sandbox of its own, which is gone afterwards.
    ExecFresh {
        /// What is on its standard input, as text.
        #[serde(skip_serializing_if = "Option::is_none")]
        stdin: Option<String>,
        /// The same as base64; one of the two.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>)]
        stdin_base64: Option<InputBytes>,
        /// The sandbox.
        sandbox: SandboxWish,
    }
}

command! {
    /// A command that is talked with while it runs: at a terminal, or over three streams.
    TerminalStart {
        /// The terminal's size; 24 lines of 80 where it is not said.
        #[serde(skip_serializing_if = "Option::is_none")]
        terminal: Option<Window>,
        /// Three streams in place of a terminal. Each message of output begins with a byte that says of which it is: 1 is
        /// standard output, 2 is standard error. Both ends tell how many messages they have `taken`, and neither sends more
        /// than eight ahead of that.
        #[serde(skip_serializing_if = "is_not")]
        streams: bool,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_not(switch: &bool) -> bool {
    !*switch
}

/// How many messages either end sends ahead of what the other has taken, where a command has three streams.
pub const AHEAD: u64 = 8;

/// The byte in front of each piece of output, where a command has three streams.
pub const fn stream_byte(stream: inner::Stream) -> u8 {
    match stream {
        inner::Stream::Stdout => 1,
        inner::Stream::Stderr => 2,
    }
}

/// The stream of that byte.
pub const fn stream_of(byte: u8) -> Option<inner::Stream> {
    match byte {
        1 => Some(inner::Stream::Stdout),
        2 => Some(inner::Stream::Stderr),
        _ => None,
    }
}

/// What becomes of what a command says.
fn given(stdin: Option<String>, base64: Option<InputBytes>) -> Result<GivenInput, Refusal> {
    match (stdin, base64) {
        (None, None) => Ok(GivenInput::Nothing),
        (Some(text), None) => Ok(GivenInput::Bytes(InputBytes::new(text.into_bytes()))),
        (None, Some(bytes)) => Ok(GivenInput::Bytes(bytes)),
        (Some(_), Some(_)) => {
            let message = "both `stdin` and `stdinBase64` are there";
            Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("give one of them"))
        }
    }
}

fn action(target: Target, command: CommandWish, own: Option<CorrelationId>, cause: &CorrelationId) -> Action {
    let correlation = Some(own.unwrap_or_else(|| cause.clone()));
    Action::SandboxExec(Box::new(ExecWish { target, command, correlation }))
}

impl Exec {
    /// The action that it asks for in this sandbox. What it says is in the reply where that is `kept`, and told as it
    /// comes otherwise.
    pub fn action(self, sandbox: String, kept: bool, cause: &CorrelationId) -> Result<Action, Refusal> {
        let input = given(self.stdin.clone(), self.stdin_base64.clone())?;
        let (command, own) = self.bare();
        let command = CommandWish { input, keep_output: kept, ..command };
        Ok(action(Target::Kept(sandbox), command, own, cause))
    }
}

impl ExecFresh {
    /// The action that it asks for; see [`Exec::action`].
    pub fn action(self, kept: bool, cause: &CorrelationId) -> Result<Action, Refusal> {
        let input = given(self.stdin.clone(), self.stdin_base64.clone())?;
        let wish: inner::SandboxWish = self.sandbox.clone().into();
        let (command, own) = self.bare();
        let command = CommandWish { input, keep_output: kept, ..command };
        Ok(action(Target::Fresh(Box::new(wish)), command, own, cause))
    }
}

impl TerminalStart {
    /// The action that it asks for in this sandbox: what it says is told as it comes, what it is told comes meanwhile.
    pub fn action(self, sandbox: String, cause: &CorrelationId) -> Result<Action, Refusal> {
        let (terminal, streams) = (self.terminal, self.streams);
        let (command, own) = self.bare();
        let command = CommandWish { input: GivenInput::Comes, ..command };
        let command = match (terminal, streams) {
            (None, true) => CommandWish { unending: true, ..command },
            (Some(_), true) => {
                let message = "both `terminal` and `streams` are there";
                return Err(
                    Refusal::new(ErrorCode::InvalidInput, message).with_hint("give one of them, or neither")
                );
            }
            (window, false) => {
                let window = window.map_or(inner::Window { rows: 24, columns: 80 }, Into::into);
                CommandWish { terminal: Some(window), ..command }
            }
        };
        Ok(action(Target::Kept(sandbox), command, own, cause))
    }
}

impl Exec {
    /// As it is asked for over HTTP. What comes while it runs, and a terminal, it cannot carry.
    pub fn of(command: CommandWish, correlation_id: Option<CorrelationId>) -> Self {
        let CommandWish { argv, shell, cwd, env, input, timeout, terminal: _, keep_output: _, unending: _ } =
            command;
        let stdin_base64 = match input {
            GivenInput::Bytes(bytes) => Some(bytes),
            GivenInput::Nothing | GivenInput::Comes => None,
        };
        Self { argv, shell, cwd, env, timeout, correlation_id, stdin: None, stdin_base64 }
    }
}

impl ExecFresh {
    /// The same in a sandbox of its own.
    pub fn of(wish: inner::SandboxWish, command: CommandWish, correlation_id: Option<CorrelationId>) -> Self {
        let Exec { argv, shell, cwd, env, timeout, correlation_id, stdin, stdin_base64 } =
            Exec::of(command, correlation_id);
        Self { argv, shell, cwd, env, timeout, correlation_id, stdin, stdin_base64, sandbox: wish.into() }
    }
}

shape! {
    /// The size of a terminal.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    Window of inner::Window {
        /// Lines.
        rows: u16,
        /// Characters in a line.
        columns: u16,
    }
}

/// What a terminal is told in words. Bytes are typed by messages of their own kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum TerminalTold {
    /// What is to be run; the first message, and only that.
    Start(Box<TerminalStart>),
    /// The terminal has another size.
    Resize(Window),
    /// A signal for the command, by its name: `SIGINT`.
    Signal(String),
    /// There is no more input.
    Eof(bool),
    /// It is to end at once, with everything that it started. Its result still comes.
    Kill(bool),
    /// So many messages of output were taken; of three streams only.
    Taken(u64),
}

/// Reads a message; what does not fit is told.
pub fn terminal_message(text: &str) -> Result<TerminalTold, Refusal> {
    serde_json::from_str(text).map_err(|error| {
        let hint =
            "send {\"start\": …} first, then {\"resize\": …}, {\"signal\": \"SIGINT\"}, {\"eof\": true} or {\"kill\": true}";
        Refusal::new(ErrorCode::InvalidInput, format!("a message is not one of a terminal's: {error}"))
            .with_hint(hint)
    })
}

/// What is told in words at a terminal. `result` and `error` are the last of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum TerminalSaid {
    /// So many messages of input were taken; of three streams only.
    Taken(u64),
    /// The command ended.
    #[schema(value_type = schema::ExecResult)]
    Result(Box<Executed>),
    /// It was refused, or cut off.
    Error(Box<Problem>),
}

/// What a command gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// The result.
    #[serde(flatten)]
    pub result: ExecResult,
    /// Lines that whoever asked should read.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl From<inner::Executed> for Executed {
    fn from(executed: inner::Executed) -> Self {
        let inner::Executed { result, warnings } = executed;
        Self { result, warnings }
    }
}

impl From<Executed> for inner::Executed {
    fn from(executed: Executed) -> Self {
        let Executed { result, warnings } = executed;
        Self { result, warnings }
    }
}

/// `output`: what a command said. Text where it is text, base64 where it is not; one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// On which stream: `stdout` or `stderr`.
    #[schema(value_type = schema::OutputStream)]
    pub stream: inner::Stream,
    /// What it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What it said, where that is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub base64: Option<InputBytes>,
}

impl Output {
    /// The name of its event.
    pub const EVENT: &'static str = "output";

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        match (self.text, self.base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(bytes)) => bytes.into_bytes().into(),
            (None, None) => Vec::new(),
        }
    }
}
