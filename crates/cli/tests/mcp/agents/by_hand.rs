//! A client that speaks plain JSON to a `bailiwick mcp` that it starts, in the era of sessions.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bailiwick_testkit::Program;
use serde_json::{Value, json};

/// How long an answer may take; only a test that fails ever waits for it.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct ByHand {
    child: Child,
    input: Option<ChildStdin>,
    heard: Receiver<Value>,
    last: u64,
    /// What the person at the client says when they are asked.
    pub(super) answer: Value,
    /// What they were asked.
    pub(super) asked: Vec<Value>,
}

impl ByHand {
    #[expect(clippy::disallowed_methods, reason = "a client starts the server as a program of its own")]
    pub(super) fn connect(program: &Program) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bailiwick"))
            .args(["--set", "server.preset=none", "mcp"])
            .env_clear()
            .env("HOME", program.home())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(program.working_folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("it starts");
        let (tell, heard) = channel();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.map(|line| serde_json::from_str(&line).expect("JSON")).try_for_each(|line| tell.send(line))
        });
        let input = child.stdin.take();
        let answer = json!({"action": "cancel"});
        let mut client = Self { child, input, heard, last: 0, answer, asked: Vec::new() };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "by-hand", "version": "1"},
        });
        client.ask("initialize", hello);
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn say(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is not told to end yet");
        writeln!(input, "{message}").expect("it reads");
    }

    /// Asks for something; gives the result.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "what is said is made for the one who says it")]
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut heard = self.heard.recv_timeout(PATIENCE).expect("an answer");
            if heard["method"] == "elicitation/create" {
                self.asked.push(heard["params"].take());
                let answer = json!({"jsonrpc": "2.0", "id": heard["id"], "result": self.answer});
                self.say(&answer);
            } else if heard["id"] == id && heard.get("method").is_none() {
                assert!(heard.get("error").is_none(), "{heard:#}");
                return heard["result"].take();
            }
        }
    }

    /// Calls a tool.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "what is said is made for the one who says it")]
    pub(super) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Calls a tool that has to do what is asked; gives its data.
    #[track_caller]
    pub(super) fn does(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.call(name, arguments);
        assert_ne!(result["isError"], true, "{result:#}");
        result["structuredContent"].take()
    }

    /// Goes away; the server ends in order.
    #[track_caller]
    pub(super) fn end(mut self) {
        drop(self.input.take());
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        // One that ended already needs no end.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}
