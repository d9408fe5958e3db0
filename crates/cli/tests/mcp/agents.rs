//! Agents in sandboxes: the native tools behind the real wall, by a client that speaks plain JSON over a pipe and by the
//! official clients. Start reading at `story`.

mod by_hand;
mod clients;
mod python;
mod story;
mod unattended;

use bailiwick_testkit::Program;
use serde_json::Value;

/// Every native tool on sandboxes.
const TOOLS: &str = r#"[mcp]
tools = ["run_command", "run_python", "sandbox_create", "sandbox_exec", "sandbox_poll", "sandbox_kill",
  "sandbox_read_file", "sandbox_write_file", "sandbox_list_files", "sandbox_upload", "sandbox_download",
  "sandbox_expose", "sandbox_close"]
"#;

/// A machine whose operator offers all of them, and says this as well.
fn machine(more: &str) -> Program {
    let text = format!("{TOOLS}{more}");
    Program::new(env!("CARGO_BIN_EXE_bailiwick")).with_home_file(".config/bailiwick/bailiwick.toml", &text)
}

/// Whether this machine lets sandboxes stand; a machine on which they must says so by `BAILIWICK_REQUIRE=sandboxes`.
fn has_sandboxes() -> bool {
    let run = Program::new(env!("CARGO_BIN_EXE_bailiwick")).run(&["doctor", "--json"]);
    let seen: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    seen.pointer("/backends/0/available") == Some(&Value::Bool(true))
}

/// The text of a result.
fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The code of an error.
fn failed(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result:#}");
    text(result).split(':').next().unwrap_or_default().to_owned()
}
