//! A client of somebody else's that does what it is told: a step a line on its stdin, an answer a line on its stdout.
//! The scripts are in the folder `clients`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::{node, programs, python};

/// How long a step may take; only a test that fails ever waits for it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whose client it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    TypeScript1,
    TypeScript2,
    Python,
}

/// The era that it is told to speak in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Sessions,
    Stateless,
}

/// Whether it can show a form to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    Shown,
    None,
}

/// A client that is connected.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    folder: tempfile::TempDir,
}

impl Client {
    /// Connects a client to a server: `at` holds its address, or how it is started.
    #[track_caller]
    #[expect(clippy::disallowed_methods, reason = "a client is a program of its own, started here")]
    pub(crate) fn connect(whose: Whose, era: Era, forms: Forms, at: &Value) -> (Self, Value) {
        let (program, script) = match whose {
            Whose::TypeScript1 => (node(), "typescript-1.mjs"),
            Whose::TypeScript2 => (node(), "typescript-2.mjs"),
            Whose::Python => (python(), "python.py"),
        };
        let mut setup = json!({
            "programs": programs(),
            "era": match era { Era::Sessions => "sessions", Era::Stateless => "stateless" },
            "elicitation": forms == Forms::Shown,
            "logs": "info",
        });
        merge(&mut setup, at);
        let folder = tempfile::tempdir().expect("a folder");
        let said = std::fs::File::create(folder.path().join("stderr")).expect("a file");
        let mut child = Command::new(program)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/clients").join(script))
            .arg(setup.to_string())
            .env_clear()
            .env("HOME", folder.path())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()
            .expect("the client starts");
        let (tell, answers) = channel();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let input = child.stdin.take();
        let client = Self { child, input, answers, folder };
        let connected = client.hear();
        assert!(connected["connected"].is_object(), "{connected}\n{}", client.said());
        (client, connected["connected"].clone())
    }

    /// Has it do one step.
    #[track_caller]
    pub(crate) fn step(&mut self, step: &Value) -> Value {
        let input = self.input.as_mut().expect("it is not told to end yet");
        writeln!(input, "{step}").expect("it reads");
        self.hear()
    }

    /// Has it do a step that needs nothing said; gives what is under the name of its answer.
    #[track_caller]
    pub(crate) fn does(&mut self, step: &str, answer: &str) -> Value {
        let mut said = self.step(&json!({"do": step}));
        match said.get_mut(answer) {
            Some(found) => found.take(),
            None => panic!("{step}: {said}\n{}", self.said()),
        }
    }

    /// Has it call a tool; gives the result, or what it failed with.
    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Result<Value, Value> {
        let mut said = self.step(&json!({"do": "call", "name": name, "arguments": arguments}));
        match said.get_mut("called") {
            Some(called) => Ok(called.take()),
            None => Err(said),
        }
    }

    /// Tells it to end; it must do so in order.
    #[track_caller]
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{ended}: {}", self.said());
    }

    #[track_caller]
    fn hear(&self) -> Value {
        match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => serde_json::from_str(&line).expect("an answer is JSON"),
            Err(error) => panic!("no answer: {error}\n{}", self.said()),
        }
    }

    /// What it, and a server that it started, wrote to stderr.
    #[expect(clippy::disallowed_methods, reason = "a file of this client's own folder")]
    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _gone = self.child.kill();
            let _gone = self.child.wait();
        }
    }
}

fn merge(into: &mut Value, from: &Value) {
    for (name, value) in from.as_object().into_iter().flatten() {
        into[name] = value.clone();
    }
}
