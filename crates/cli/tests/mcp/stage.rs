//! The real program with a few tools, and what its own commands tell about what a client did.

use bailiwick_testkit::{Program, Running};
use serde_json::{Value, json};

/// The tools, by name. `fails` and `slow` pass their tests, and do worse when they are asked to.
const TOOLS: &[(&str, &str)] = &[
    (
        "asks",
        "title: Greet if a person says so
description: Greets somebody once a person has said yes.
params:
  - {name: who, type: STRING, required: true, description: Who is greeted., testValue: world}
approval: {mode: REQUIRED}
tests:
  - {name: greets, input: {who: you}, equals: Hello you!}
code: |
  return `Hello ${who}!`;
",
    ),
    (
        "fails",
        "title: Fail
description: Fails as it is told to.
params:
  - {name: how, type: STRING, required: true, description: How., testValue: not}
tests:
  - {name: need not fail, input: {how: not}, equals: fine}
code: |
  if (how === 'throw') throw new Error('as it was told');
  return 'fine';
",
    ),
    ("greet", GREET),
    (
        "slow",
        "title: Take long
description: Takes as long as it is told to.
params:
  - {name: rounds, type: INTEGER, required: true, description: How often., testValue: 1}
limits: {wall: 30s, cpu: 30s, steps: 10000000000}
tests:
  - {name: ends, input: {rounds: 1}, equals: done}
code: |
  for (let round = 0; round < rounds; round++) {}
  return 'done';
",
    ),
];

const GREET: &str = "title: Greet
description: Greets somebody.
params:
  - {name: who, type: STRING, required: true, description: Who is greeted., testValue: world}
tests:
  - {name: greets, input: {who: you}, equals: Hello you!}
code: |
  console.log('greeting', who);
  return `Hello ${who}!`;
";

/// The key of whoever comes in over HTTP. It covers calls and nothing else.
pub(crate) const KEY: &str = "agent";

/// How a client comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// To `bailiwick serve`.
    Http,
    /// To a `bailiwick mcp` that the client starts.
    Pipe,
}

/// A machine with published tools, and a server where that is the way in.
pub(crate) struct Stage {
    pub(crate) program: Program,
    server: Option<Running>,
    /// The address of the server, or how the client starts one.
    pub(crate) at: Value,
}

impl Stage {
    #[track_caller]
    pub(crate) fn set(way: Way) -> Self {
        let path = env!("CARGO_BIN_EXE_bailiwick");
        let program = TOOLS.iter().fold(Program::new(path), |program, (name, rest)| {
            program.with_file(&format!("{name}.tool.yaml"), &format!("name: {name}\n{rest}"))
        });
        let documents: Vec<String> = TOOLS.iter().map(|(name, _)| format!("{name}.tool.yaml")).collect();
        let (server, at) = match way {
            Way::Http => {
                let (server, address) = serve(&program);
                let key =
                    program.run(&["key", "create", KEY, "--scope", "call", "--dialogue", "--quiet"]).stdout;
                let headers = json!({"Authorization": format!("Bearer {}", key.trim())});
                (Some(server), json!({"url": format!("{address}/mcp"), "headers": headers}))
            }
            Way::Pipe => {
                let environment = json!({"HOME": program.home()});
                let started = json!({
                    "command": path,
                    "args": ["--set", "server.preset=none", "mcp"],
                    "env": environment,
                    "cwd": program.working_folder(),
                });
                (None, json!({"server": started}))
            }
        };
        let stage = Self { program, server, at };
        for document in &documents {
            stage.run(&["tool", "publish", document]);
        }
        stage
    }

    /// Sees to it that a server owns the data folder, so that a pipe is a bridge to it, and somebody may come to answer.
    #[track_caller]
    pub(crate) fn attend(&mut self) {
        if self.server.is_none() {
            self.server = Some(serve(&self.program).0);
        }
    }

    /// Writes and publishes another tool.
    #[track_caller]
    pub(crate) fn publish(&self, name: &str) {
        self.write(name, &format!("name: {name}\n{GREET}"));
        self.run(&["tool", "publish", &format!("{name}.tool.yaml")]);
    }

    /// Edits that tool: it is no longer what passed.
    #[track_caller]
    pub(crate) fn edit(&self, name: &str) {
        self.write(name, &format!("name: {name}\n{}", GREET.replace("Hello", "Goodbye")));
        self.run(&["tool", "import", &format!("{name}.tool.yaml")]);
    }

    #[expect(clippy::disallowed_methods, reason = "a file of the test's own machine")]
    fn write(&self, name: &str, text: &str) {
        let file = self.program.working_folder().join(format!("{name}.tool.yaml"));
        std::fs::write(file, text).expect("a document");
    }

    /// Says yes to the one question that waits.
    #[track_caller]
    pub(crate) fn approve(&self) {
        let waiting = self.json(&["approvals", "list", "--json"]);
        let id = waiting.pointer("/approvals/0/id").and_then(Value::as_str);
        self.run(&["approvals", "yes", id.expect("a question waits")]);
    }

    /// Waits until the record has one of these of this tool; gives the newest.
    #[track_caller]
    pub(crate) fn recorded(&self, kind: &str, tool: &str) -> Value {
        // Each look takes as long as a command does; what comes at all comes long before the last.
        for _ in 0..200 {
            let records = self.json(&["audit", "tail", "-n", "50", "--json"]);
            let found = records["records"]
                .as_array()
                .into_iter()
                .flatten()
                .rfind(|record| record["kind"] == kind && record["tool"]["name"] == tool);
            if let Some(found) = found {
                return found.clone();
            }
        }
        panic!("no {kind} of {tool} is on the record");
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments)).expect("it prints JSON")
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let run = self.program.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}{}", run.stdout, run.stderr);
        run.stdout
    }

    /// Ends the server, which must not have suffered.
    #[track_caller]
    pub(crate) fn end(self) {
        if let Some(server) = self.server {
            server.terminate();
            let (code, text) = server.end();
            assert_eq!(code, Some(0), "{text}");
        }
    }
}

/// A server on a free port, and where it listens.
#[track_caller]
pub(crate) fn serve(program: &Program) -> (Running, String) {
    let server = program.start(&["serve", "--listen", "127.0.0.1:0", "--preset", "none", "--json"]);
    let text = server.wait_for("}\n");
    let line = text.lines().find(|line| line.starts_with("{\"listens\"")).unwrap_or_default();
    let said: Value = serde_json::from_str(line).expect("a line of JSON");
    let address = said["listens"].as_str().expect("where it listens").to_owned();
    (server, address)
}
