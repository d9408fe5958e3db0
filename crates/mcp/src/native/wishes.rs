//! Arguments of the tools on sandboxes, as wishes. Nothing that stands in them names an image, a network, a limit above the
//! operator's, or a path of the host.

use std::collections::BTreeMap;

use bailiwick_core::Action;
use bailiwick_core::sandboxes::{
    AgentDoes, AgentTool, AgentWish, CommandWish, Cursor, GivenInput, InputBytes, SandboxPath, Session,
};
use bailiwick_types::shortened;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::told::{MOST_READ, READ_AT_ONCE};
use super::{Cause, Telling};

/// The most bytes of a file that go one way at once.
pub(crate) const MOST_BYTES: usize = 4 << 20;
/// The longest that a look waits, in seconds.
const LONGEST_WAIT: f64 = 30.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunCommand {
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    shell: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    stdin: Option<String>,
    #[serde(default)]
    timeout_seconds: Option<f64>,
    #[serde(default)]
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunPython {
    code: String,
    #[serde(default)]
    timeout_seconds: Option<f64>,
    #[serde(default)]
    session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    ports: Vec<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exec {
    sandbox_id: String,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    shell: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    stdin: Option<String>,
    #[serde(default)]
    timeout_seconds: Option<f64>,
    #[serde(default)]
    background: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Poll {
    sandbox_id: String,
    exec_id: String,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    wait_seconds: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kill {
    sandbox_id: String,
    exec_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    sandbox_id: String,
    path: String,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteFile {
    sandbox_id: String,
    path: String,
    content: String,
    #[serde(default)]
    executable: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Upload {
    sandbox_id: String,
    path: String,
    base64: String,
    #[serde(default)]
    executable: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AtPath {
    sandbox_id: String,
    #[serde(default)]
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expose {
    sandbox_id: String,
    port: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Close {
    sandbox_id: String,
}

/// What a call does, and how its result is told.
pub(super) fn of(tool: AgentTool, arguments: JsonObject, cause: Cause) -> Result<(Action, Telling), String> {
    let mut telling = Telling::Plain;
    let does = match tool {
        AgentTool::RunCommand => {
            let RunCommand { argv, shell, cwd, env, stdin, timeout_seconds, session } =
                read(tool, arguments)?;
            let command = Given { argv, shell, cwd, env, stdin, timeout_seconds }.wish()?;
            AgentDoes::RunCommand { session: session_of(session), command }
        }
        AgentTool::RunPython => {
            let RunPython { code, timeout_seconds, session } = read(tool, arguments)?;
            let timeout = timeout_seconds.map(duration).transpose()?;
            AgentDoes::RunPython { session: session_of(session), code, timeout }
        }
        AgentTool::Create => {
            let Create { env, ports } = read(tool, arguments)?;
            AgentDoes::Create { env, ports }
        }
        AgentTool::Exec => {
            let Exec { sandbox_id: sandbox, argv, shell, cwd, env, stdin, timeout_seconds, background } =
                read(tool, arguments)?;
            let command = Given { argv, shell, cwd, env, stdin, timeout_seconds }.wish()?;
            telling = Telling::Exec;
            AgentDoes::Exec { sandbox, command, background }
        }
        AgentTool::Poll => {
            let Poll { sandbox_id: sandbox, exec_id: exec, cursor, wait_seconds } = read(tool, arguments)?;
            let wait = wait_seconds.unwrap_or(0.0);
            if !(0.0..=LONGEST_WAIT).contains(&wait) {
                return Err(format!("`wait_seconds` is at most {LONGEST_WAIT}"));
            }
            let cursor = cursor.as_deref().map(cursor_of).transpose()?.unwrap_or_default();
            AgentDoes::Poll { sandbox, exec, cursor, wait_ms: milliseconds(wait) }
        }
        AgentTool::Kill => {
            let Kill { sandbox_id: sandbox, exec_id: exec } = read(tool, arguments)?;
            AgentDoes::Kill { sandbox, exec }
        }
        AgentTool::ReadFile => {
            let ReadFile { sandbox_id: sandbox, path, offset, limit } = read(tool, arguments)?;
            let limit = limit.unwrap_or(READ_AT_ONCE).min(MOST_READ);
            telling = Telling::Text { path: path.clone(), offset, limit };
            AgentDoes::ReadFile { sandbox, path: inside(&path)? }
        }
        AgentTool::WriteFile => {
            let WriteFile { sandbox_id: sandbox, path, content, executable } = read(tool, arguments)?;
            telling = Telling::Written { path: path.clone(), bytes: content.len() };
            AgentDoes::WriteFile { sandbox, path: inside(&path)?, bytes: bytes(content.into())?, executable }
        }
        AgentTool::ListFiles => {
            let AtPath { sandbox_id: sandbox, path } = read(tool, arguments)?;
            let path = path.unwrap_or_else(|| SandboxPath::work().as_str().to_owned());
            telling = Telling::Listed { path: path.clone() };
            AgentDoes::ListFiles { sandbox, path: inside(&path)? }
        }
        AgentTool::Upload => {
            let Upload { sandbox_id: sandbox, path, base64, executable } = read(tool, arguments)?;
            let content = STANDARD.decode(base64.trim()).map_err(|_| "`base64` is not base64".to_owned())?;
            telling = Telling::Written { path: path.clone(), bytes: content.len() };
            AgentDoes::Upload { sandbox, path: inside(&path)?, bytes: bytes(content)?, executable }
        }
        AgentTool::Download => {
            let AtPath { sandbox_id: sandbox, path } = read(tool, arguments)?;
            let path = path.ok_or_else(|| "`path` is missing: the file that is wanted".to_owned())?;
            telling = Telling::Bytes { path: path.clone() };
            AgentDoes::Download { sandbox, path: inside(&path)? }
        }
        AgentTool::Expose => {
            let Expose { sandbox_id: sandbox, port } = read(tool, arguments)?;
            AgentDoes::Expose { sandbox, port }
        }
        AgentTool::Close => {
            let Close { sandbox_id: sandbox } = read(tool, arguments)?;
            telling = Telling::Closed { sandbox: sandbox.clone() };
            AgentDoes::Close { sandbox }
        }
    };
    let Cause { id: correlation, is_tied } = cause;
    Ok((Action::AgentUse(Box::new(AgentWish { does, correlation, is_tied })), telling))
}

fn read<T: DeserializeOwned>(tool: AgentTool, arguments: JsonObject) -> Result<T, String> {
    // What is not said may also be said to be null.
    let said = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    serde_json::from_value(Value::Object(said)).map_err(|error| format!("`{}`: {error}", tool.name()))
}

/// A command as it was given.
struct Given {
    argv: Option<Vec<String>>,
    shell: Option<String>,
    cwd: Option<String>,
    env: BTreeMap<String, String>,
    stdin: Option<String>,
    timeout_seconds: Option<f64>,
}

impl Given {
    fn wish(self) -> Result<CommandWish, String> {
        let Self { argv, shell, cwd, env, stdin, timeout_seconds } = self;
        let (argv, shell) = match (argv, shell) {
            (Some(argv), None) if !argv.is_empty() => (argv, None),
            (None, Some(shell)) => (Vec::new(), Some(shell)),
            _ => return Err("give either `argv`, a list of words, or `shell`, a text for /bin/sh".to_owned()),
        };
        Ok(CommandWish {
            argv,
            shell,
            cwd: cwd.as_deref().map(inside).transpose()?,
            env,
            input: stdin.map_or(GivenInput::Nothing, |text| GivenInput::Bytes(InputBytes::new(text))),
            timeout: timeout_seconds.map(duration).transpose()?,
            terminal: None,
            keep_output: true,
            unending: false,
        })
    }
}

fn session_of(said: Option<String>) -> Session {
    match said {
        None => Session::None,
        Some(word) if word == "new" => Session::New,
        Some(id) => Session::Kept(id),
    }
}

fn inside(path: &str) -> Result<SandboxPath, String> {
    // What is not absolute lies where commands begin.
    let whole =
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", SandboxPath::work()) };
    SandboxPath::new(&whole).map_err(|error| format!("the path `{}`: {error}", shortened(path)))
}

fn bytes(content: Vec<u8>) -> Result<InputBytes, String> {
    if content.len() > MOST_BYTES {
        return Err(format!("a file of {} bytes is more than {MOST_BYTES}, the most at once", content.len()));
    }
    Ok(InputBytes::new(content))
}

fn duration(seconds: f64) -> Result<String, String> {
    if !(seconds.is_finite() && (0.001..=86_400.0).contains(&seconds)) {
        return Err("`timeout_seconds` has to be a number of seconds, more than none".to_owned());
    }
    Ok(format!("{}ms", milliseconds(seconds)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whoever calls has seen that it is a number of seconds between none and a day"
)]
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

/// A cursor as clients carry it: `12:0`.
pub(super) fn cursor_text(cursor: Cursor) -> String {
    format!("{}:{}", cursor.stdout, cursor.stderr)
}

fn cursor_of(text: &str) -> Result<Cursor, String> {
    let parts = text.split_once(':').and_then(|(out, err)| Some((out.parse().ok()?, err.parse().ok()?)));
    let (stdout, stderr) =
        parts.ok_or_else(|| "the cursor is none of ours: leave it out to begin anew".to_owned())?;
    Ok(Cursor { stdout, stderr })
}

#[cfg(test)]
mod tests;
