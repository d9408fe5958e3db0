//! The native tools in words and schemas, as a model reads them. What they say of the place in which commands run is what
//! the operator offers.

use bailiwick_core::sandboxes::{AgentOffer, AgentTool};
use serde_json::{Map, Value, json};

/// A tool in words.
pub(super) struct Words {
    pub(super) title: &'static str,
    pub(super) description: String,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
}

pub(super) fn describe_runtime() -> Words {
    Words {
        title: "Describe the runtime",
        description:
            "Tells what code that run_javascript runs finds: its globals, what is blocked and what to use \
                      instead, its limits, and what it may fetch."
                .to_owned(),
        input: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        output: None,
    }
}

pub(super) fn run_javascript() -> Words {
    Words {
        title: "Run JavaScript",
        description: "Runs JavaScript or TypeScript once, in a sandboxed process of its own that keeps nothing. `code` \
                      is the body of an async function: give a value back with `return`. There is no Node.js, no \
                      `require`, no `import`; describe_runtime tells what there is."
            .to_owned(),
        input: json!({"type": "object", "additionalProperties": false, "required": ["code"], "properties": {
            "code": {"type": "string", "description": "the body of an async function"},
            "arguments": {"type": "object", "description": "variables of the code, by name"},
        }}),
        output: None,
    }
}

/// Title, description, properties, and which of these are required.
type Parts = (&'static str, String, Vec<(&'static str, Value)>, &'static [&'static str]);

/// A tool on sandboxes.
pub(super) fn of(tool: AgentTool, offer: &AgentOffer) -> Words {
    let place = offer.told();
    let (title, description, properties, required) = match tool {
        AgentTool::RunCommand => run_command(&place),
        AgentTool::RunPython => run_python(&place, offer),
        AgentTool::Create => create(&place),
        AgentTool::Exec => exec(&place),
        AgentTool::Poll => poll(),
        AgentTool::Kill => kill(),
        AgentTool::ReadFile => read_file(),
        AgentTool::WriteFile => write_file(),
        AgentTool::ListFiles => list_files(),
        AgentTool::Upload => upload(),
        AgentTool::Download => download(),
        AgentTool::Expose => expose(),
        AgentTool::Close => close(),
    };
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let input = json!({
        "type": "object", "additionalProperties": false, "required": required, "properties": properties,
    });
    Words { title, description, input, output: Some(output(tool)) }
}

fn run_command(place: &str) -> Parts {
    (
        "Run a command",
        format!(
            "Runs one command in a fresh Linux sandbox and gives exit code, stdout and stderr. {place} Nothing is \
             kept, unless `session` is \"new\": then the result's sandboxId is a session for later calls, and for \
             the sandbox_ tools."
        ),
        with(command(), &[("session", session())]),
        &[],
    )
}

fn run_python(place: &str, offer: &AgentOffer) -> Parts {
    (
        "Run Python",
        format!(
            "Runs Python code in a Linux sandbox; gives the last expression's value, stdout and stderr. {place} {} \
             Nothing is kept, unless `session` is \"new\": then the result names a session whose variables and \
             files stay for later calls.",
            offer.python_told()
        ),
        vec![("code", text("the code")), ("timeout_seconds", seconds()), ("session", session())],
        &["code"],
    )
}

fn create(place: &str) -> Parts {
    (
        "Create a sandbox",
        format!(
            "Makes a Linux sandbox that keeps its files between calls, for sandbox_exec and the other sandbox_ \
             tools. {place} Close it with sandbox_close when it is no longer needed."
        ),
        vec![
            ("env", variables()),
            (
                "ports",
                json!({
                    "type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65535},
                    "description": "ports inside that sandbox_expose may be asked for later",
                }),
            ),
        ],
        &[],
    )
}

fn exec(place: &str) -> Parts {
    (
        "Run a command in a sandbox",
        format!(
            "Runs a command in a sandbox and gives exit code, stdout and stderr. {place} With `background` it gives \
             an exec_id at once, for sandbox_poll and sandbox_kill."
        ),
        with(
            command(),
            &[
                ("sandbox_id", id()),
                ("background", json!({"type": "boolean", "description": "start it and do not wait"})),
            ],
        ),
        &["sandbox_id"],
    )
}

fn poll() -> Parts {
    (
        "Look at a background command",
        "Tells what a background command has said since `cursor`, and how it ended if it did. Of each stream the \
         last 256 KiB are kept; what was dropped is counted."
            .to_owned(),
        vec![
            ("sandbox_id", id()),
            ("exec_id", text("from sandbox_exec")),
            ("cursor", text("from the last look; without one, from the beginning")),
            ("wait_seconds", json!({
                "type": "number", "minimum": 0, "maximum": 30, "description": "wait so long for news",
            })),
        ],
        &["sandbox_id", "exec_id"],
    )
}

fn kill() -> Parts {
    (
        "End a background command",
        "Ends a background command with everything that it started, and tells what it said.".to_owned(),
        vec![("sandbox_id", id()), ("exec_id", text("from sandbox_exec"))],
        &["sandbox_id", "exec_id"],
    )
}

fn read_file() -> Parts {
    (
        "Read a text file",
        "Gives the text of a file in a sandbox, from `offset` on, at most `limit` bytes.".to_owned(),
        vec![
            ("sandbox_id", id()),
            ("path", path()),
            ("offset", json!({"type": "integer", "minimum": 0, "description": "in bytes"})),
            (
                "limit",
                json!({"type": "integer", "minimum": 1, "description": "in bytes; 65536 without, 262144 at most"}),
            ),
        ],
        &["sandbox_id", "path"],
    )
}

fn write_file() -> Parts {
    (
        "Write a text file",
        "Writes a file in a sandbox, with the folders above it. What was in it is gone.".to_owned(),
        vec![
            ("sandbox_id", id()),
            ("path", path()),
            ("content", text("all of the text")),
            ("executable", executable()),
        ],
        &["sandbox_id", "path", "content"],
    )
}

fn list_files() -> Parts {
    (
        "List a folder",
        "Tells what is in a folder of a sandbox.".to_owned(),
        vec![("sandbox_id", id()), ("path", text("the folder; /work without one"))],
        &["sandbox_id"],
    )
}

fn upload() -> Parts {
    (
        "Upload a file",
        "Writes bytes to a file in a sandbox, at most 4 MiB. For text use sandbox_write_file.".to_owned(),
        vec![
            ("sandbox_id", id()),
            ("path", path()),
            ("base64", text("the bytes, in base64")),
            ("executable", executable()),
        ],
        &["sandbox_id", "path", "base64"],
    )
}

fn download() -> Parts {
    (
        "Download a file",
        "Gives the bytes of a file in a sandbox in base64, at most 4 MiB. For text use sandbox_read_file."
            .to_owned(),
        vec![("sandbox_id", id()), ("path", path())],
        &["sandbox_id", "path"],
    )
}

fn expose() -> Parts {
    (
        "Expose a port",
        "Forwards a port of the host's loopback to a port in a sandbox that sandbox_create listed under `ports`; \
         gives the host's port."
            .to_owned(),
        vec![
            ("sandbox_id", id()),
            ("port", json!({"type": "integer", "minimum": 1, "maximum": 65535, "description": "the port inside"})),
        ],
        &["sandbox_id", "port"],
    )
}

fn close() -> Parts {
    (
        "Close a sandbox",
        "Ends a sandbox with all that runs in it, and removes its files.".to_owned(),
        vec![("sandbox_id", id())],
        &["sandbox_id"],
    )
}

fn with(mut all: Vec<(&'static str, Value)>, more: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    all.extend(more.iter().cloned());
    all
}

/// What a command is made of.
fn command() -> Vec<(&'static str, Value)> {
    vec![
        (
            "argv",
            json!({
                "type": "array", "items": {"type": "string"}, "minItems": 1,
                "description": "program and arguments, passed as they are: [\"ls\", \"-l\"]; no shell reads them",
            }),
        ),
        ("shell", text("a text for /bin/sh in place of argv: \"ls | wc -l\"")),
        ("cwd", text("the folder in which it begins; /work without one")),
        ("env", variables()),
        ("stdin", text("what is on its standard input")),
        ("timeout_seconds", seconds()),
    ]
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn id() -> Value {
    text("from sandbox_create, or a session")
}

fn path() -> Value {
    text("an absolute path in the sandbox, or one below /work")
}

fn session() -> Value {
    text("\"new\" begins a session, its id goes on with it; without one nothing is kept")
}

fn seconds() -> Value {
    json!({"type": "number", "exclusiveMinimum": 0, "description": "its own deadline, below that of the sandbox"})
}

fn executable() -> Value {
    json!({"type": "boolean", "description": "whether it can be run"})
}

fn variables() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}, "description": "environment variables"})
}

/// What there is of every command that ran.
const RAN: &[&str] =
    &["exitCode", "signal", "timedOut", "oom", "stdout", "stderr", "encoding", "sandboxId", "correlationId"];

/// What a tool gives as data.
fn output(tool: AgentTool) -> Value {
    let exec = || {
        json!({
            "exitCode": {"type": ["integer", "null"]}, "signal": {"type": ["string", "null"]},
            "timedOut": {"type": "boolean"}, "oom": {"type": "boolean"},
            "stdout": {"type": "string"}, "stdoutTruncated": {"type": "boolean"},
            "stderr": {"type": "string"}, "stderrTruncated": {"type": "boolean"},
            "encoding": {"enum": ["utf8", "base64"], "description": "of stdout and stderr"},
            "usage": {"type": "object"}, "denials": {"type": "array"}, "receipt": {"type": "object"},
            "sandboxId": {"type": "string"}, "backend": {"type": "string"}, "tier": {"type": "string"},
            "correlationId": {"type": "string"},
        })
    };
    let (mut properties, required): (Value, &[&str]) = match tool {
        AgentTool::RunCommand => (exec(), RAN),
        AgentTool::RunPython => (
            also(
                exec(),
                json!({
                    "value": {"type": ["string", "null"], "description": "the last expression, as repr shows it"},
                    "error": {"type": ["string", "null"], "description": "the exception, in one line"},
                    "session": {"type": ["string", "null"]},
                    "variablesLost": {"type": "boolean"},
                }),
            ),
            RAN,
        ),
        AgentTool::Exec => (
            also(exec(), json!({"running": {"type": "boolean"}, "execId": {"type": "string"}})),
            &["running"],
        ),
        AgentTool::Poll | AgentTool::Kill => (
            also(
                exec(),
                json!({
                    "running": {"type": "boolean"}, "execId": {"type": "string"}, "cursor": {"type": "string"},
                    "stdoutDropped": {"type": "integer"}, "stderrDropped": {"type": "integer"},
                    "more": {"type": "boolean"}, "failure": {"type": ["string", "null"]},
                }),
            ),
            &["running", "execId", "stdout", "stderr", "cursor", "exitCode"],
        ),
        AgentTool::Create => (
            json!({
                "sandboxId": {"type": "string"}, "network": {"type": "string"}, "backend": {"type": "string"},
                "tier": {"type": "string"}, "endsAt": {"type": "string"}, "limits": {"type": "object"},
                "receipt": {"type": "object"}, "warnings": {"type": "array", "items": {"type": "string"}},
                "correlationId": {"type": ["string", "null"]},
            }),
            &["sandboxId"],
        ),
        AgentTool::ReadFile => (
            json!({
                "path": {"type": "string"}, "content": {"type": "string"}, "offset": {"type": "integer"},
                "bytes": {"type": "integer", "description": "of the whole file"}, "truncated": {"type": "boolean"},
            }),
            &["path", "content", "bytes", "truncated"],
        ),
        AgentTool::WriteFile | AgentTool::Upload => {
            (json!({"path": {"type": "string"}, "bytes": {"type": "integer"}}), &["path", "bytes"])
        }
        AgentTool::ListFiles => (
            json!({"path": {"type": "string"}, "truncated": {"type": "boolean"}, "entries": {
                "type": "array", "items": {"type": "object", "required": ["name", "kind"], "properties": {
                    "name": {"type": "string"}, "kind": {"enum": ["file", "folder", "link", "other"]},
                    "bytes": {"type": "integer"}, "mode": {"type": "integer"},
                }},
            }}),
            &["path", "entries"],
        ),
        AgentTool::Download => (
            json!({"path": {"type": "string"}, "bytes": {"type": "integer"}, "base64": {"type": "string"}}),
            &["path", "bytes", "base64"],
        ),
        AgentTool::Expose => (
            json!({"port": {"type": "integer"}, "hostPort": {"type": "integer"}, "url": {"type": "string"}}),
            &["port", "hostPort"],
        ),
        AgentTool::Close => {
            (json!({"sandboxId": {"type": "string"}, "closed": {"type": "boolean"}}), &["closed"])
        }
    };
    json!({"type": "object", "required": required, "properties": properties.take()})
}

fn also(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
