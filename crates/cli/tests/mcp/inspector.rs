//! The inspector, as people use it at a terminal: `inspector --cli` for one question at a time, and `mcpdo` for
//! connections that stay. Neither can take a call back or shows progress, and neither tells when a list changed; a list
//! that is asked for again, on the same connection, shows it.

use std::process::{Command, Stdio};

use bailiwick_testkit::requires;
use serde_json::{Value, json};

use super::stage::{Stage, Way};
use super::{has_node, node, programs};

/// Its folder among the programs.
const INSPECTOR: &str = "node_modules/@modelcontextprotocol/inspector/clients";
/// The one question at a time.
const CLI: &str = "launcher/build/index.js";
/// Connections that stay.
const MCPDO: &str = "mcpdo/build/mcp-bin.js";

#[test]
fn the_inspector_is_served_in_a_session_over_http() {
    check("legacy", Way::Http);
}

#[test]
fn the_inspector_is_served_in_a_session_over_a_pipe() {
    check("legacy", Way::Pipe);
}

#[test]
fn the_inspector_is_served_without_a_session_over_http() {
    check("modern", Way::Http);
}

#[test]
fn the_inspector_is_served_without_a_session_over_a_pipe() {
    check("modern", Way::Pipe);
}

#[track_caller]
fn check(era: &str, way: Way) {
    requires!("mcp-node", has_node());
    let inspector = Inspector::beside(Stage::set(way), era);
    inspector.asks_one_question_at_a_time();
    inspector.stays_connected();
    inspector.end();
}

/// The inspector at a home of its own.
struct Inspector {
    stage: Option<Stage>,
    era: String,
    home: tempfile::TempDir,
}

impl Inspector {
    #[expect(clippy::disallowed_methods, reason = "a file of the inspector's own home")]
    fn beside(stage: Stage, era: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let server = match stage.at.get("url") {
            Some(url) => json!({"type": "streamable-http", "url": url, "headers": stage.at["headers"]}),
            None => stage.at["server"].clone(),
        };
        let config = json!({"mcpServers": {"ours": server}}).to_string();
        std::fs::write(home.path().join("mcp.json"), config).expect("its settings");
        Self { stage: Some(stage), era: era.to_owned(), home }
    }

    /// Runs one of its programs; gives what it printed, and whether it ended well.
    #[expect(clippy::disallowed_methods, reason = "the inspector is a program of its own, started here")]
    fn run(&self, program: &str, arguments: &[&str]) -> (bool, Value, String) {
        let run = Command::new(node())
            .arg(programs().join(INSPECTOR).join(program))
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/bin:/bin")
            .env("MCP_INSPECTOR_SECRET_STORE", "file")
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .output()
            .expect("it starts");
        let told = String::from_utf8_lossy(&run.stdout).into_owned();
        let said = serde_json::from_str(&told).unwrap_or(Value::Null);
        (run.status.success(), said, format!("{arguments:?}: {told}{}", String::from_utf8_lossy(&run.stderr)))
    }

    /// One question, which it must be able to put.
    #[track_caller]
    fn cli(&self, arguments: &[&str]) -> (bool, Value, String) {
        let which = ["--cli", "--config", "mcp.json", "--server", "ours", "--protocol-era", &self.era];
        let (ended_well, mut said, told) =
            self.run(CLI, &[&which[..], &["--format", "json", "--quiet"], arguments].concat());
        (ended_well, said["result"].take(), told)
    }

    /// A command on the connection that stays. It ends well, or its result is an error.
    #[track_caller]
    fn mcpdo(&self, arguments: &[&str]) -> Value {
        let arguments = [&["--format", "json", "--config", "mcp.json"], arguments].concat();
        let (ended_well, said, told) = self.run(MCPDO, &arguments);
        assert_eq!(ended_well, said["isError"] != true, "{told}");
        said
    }

    fn asks_one_question_at_a_time(&self) {
        let (ended_well, listed, told) = self.cli(&["--method", "tools/list", "--strict"]);
        assert!(ended_well, "its schemas are portable: {told}");
        assert_eq!(names(&listed), ["asks", "fails", "greet", "slow"], "{told}");
        let greet = ["--method", "tools/call", "--tool-name", "greet", "--tool-arg", "who=you"];
        let (ended_well, called, told) = self.cli(&greet);
        assert!(ended_well && text(&called) == "Hello you!", "{told}");
        let (_, failed, told) =
            self.cli(&["--method", "tools/call", "--tool-name", "fails", "--tool-arg", "how=throw"]);
        assert!(failed["isError"] == true && text(&failed).contains("as it was told"), "{told}");
    }

    fn stays_connected(&self) {
        let connected = self.mcpdo(&["connect", "ours", "--era", &self.era]);
        assert_eq!(connected["protocolEra"], self.era, "{connected}");
        let on = ["--connection", "ours"];
        let stage = self.stage.as_ref().expect("it is not over yet");
        stage.publish("late");
        let listed = self.mcpdo(&[&on[..], &["tools/list"]].concat());
        assert!(names(&listed).contains(&"late"), "{listed}");
        let called = self.mcpdo(&[&on[..], &["tools/call", "late", "who:=you"]].concat());
        assert_eq!(text(&called), "Hello you!", "{called}");
        stage.edit("late");
        let (ended_well, _, told) = self.run(MCPDO, &[&on[..], &["tools/call", "late", "who:=you"]].concat());
        assert!(
            !ended_well && told.contains("late") && !told.contains("you!"),
            "what was edited is gone: {told}"
        );
        let listed = self.mcpdo(&[&on[..], &["tools/list"]].concat());
        assert_eq!(names(&listed), ["asks", "fails", "greet", "slow"], "{listed}");

        let asks = [&on[..], &["tools/call", "asks", "who:=ann"]].concat();
        let answered = |answer: &str| {
            let pending = self.mcpdo(&asks);
            let id = pending["elicitationPending"]["elicitationId"].as_str();
            let id = id.unwrap_or_else(|| panic!("a question: {pending}")).to_owned();
            self.mcpdo(&[&on[..], &["elicitation/respond", &id, answer]].concat())
        };
        let yes = answered("approve:=true");
        assert_eq!(text(&yes), "Hello ann!", "{yes}");
        let no = answered("--decline");
        assert!(no["isError"] == true && text(&no).starts_with("APPROVAL_DECLINED"), "{no}");
        self.mcpdo(&["disconnect", "ours"]);
    }

    /// Ends the server that it was tried on.
    #[track_caller]
    fn end(mut self) {
        self.stage.take().expect("it is not over yet").end();
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        // What keeps its connections ends with the test, however that ends.
        let _stopped = self.run(MCPDO, &["daemon", "stop"]);
    }
}

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
