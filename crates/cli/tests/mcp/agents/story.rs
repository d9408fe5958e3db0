//! A session of an agent: make a sandbox, write a failing test, run it, fix it, run it, read the file, close; and all of it
//! on the record under one correlation.

use bailiwick_testkit::{Program, requires};
use serde_json::{Value, json};

use super::by_hand::ByHand;
use super::{failed, has_sandboxes, machine, text};

const TEST: &str = "import unittest
from add import add

class Adds(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)

if __name__ == '__main__':
    unittest.main()
";

/// Of another length than what was wrong: Python takes what it compiled within the same second for the same.
const FIXED: &str = "def add(a, b):\n    return sum([a, b])\n";

/// Has somebody who calls tools go through it; gives what all of it was caused by.
pub(super) fn told(mut call: impl FnMut(&str, Value) -> Value) -> String {
    let mut does = |name: &str, arguments: Value| {
        let mut result = call(name, arguments);
        assert_ne!(result["isError"], true, "{name}: {result:#}");
        result["structuredContent"].take()
    };
    let made = does("sandbox_create", json!({}));
    let sandbox = made["sandboxId"].as_str().expect("an id").to_owned();
    let cause = made["correlationId"].as_str().expect("a cause").to_owned();
    let write = |path: &str, content: &str| json!({"sandbox_id": sandbox, "path": path, "content": content});
    let run = || json!({"sandbox_id": sandbox, "argv": ["python3", "test_add.py"]});
    does("sandbox_write_file", write("test_add.py", TEST));
    does("sandbox_write_file", write("add.py", "def add(a, b):\n    return a - b\n"));
    let ran = does("sandbox_exec", run());
    assert_eq!((&ran["exitCode"], &ran["running"]), (&json!(1), &json!(false)), "{ran:#}");
    assert!(ran["stderr"].as_str().is_some_and(|said| said.contains("AssertionError: -1 != 5")), "{ran:#}");
    assert_eq!(ran["correlationId"], *cause);
    does("sandbox_write_file", write("add.py", FIXED));
    let ran = does("sandbox_exec", run());
    assert_eq!(ran["exitCode"], 0, "{ran:#}");
    assert_eq!(ran["receipt"]["tier"], "PROCESS", "{ran:#}");
    let read = does("sandbox_read_file", json!({"sandbox_id": sandbox, "path": "/work/add.py"}));
    assert_eq!(read["content"], FIXED);
    let closed = does("sandbox_close", json!({"sandbox_id": sandbox}));
    assert_eq!(closed["closed"], true);
    cause
}

/// What of it is on the record.
pub(super) fn is_on_the_record(program: &Program, cause: &str) {
    let shown = program.run(&["audit", "show", "--correlation", cause, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown:?}"));
    let records = shown["records"].as_array().expect("records");
    let outcomes: Vec<(&str, &str)> = records
        .iter()
        .filter(|record| record["kind"] == "outcome")
        .map(|record| {
            let word = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            (word("/action"), word("/tool/name"))
        })
        .collect();
    let (write, exec) = (("sandbox.write", "sandbox_write_file"), ("exec", "sandbox_exec"));
    assert_eq!(
        outcomes,
        [
            ("sandbox.create", "sandbox_create"),
            write,
            write,
            exec,
            write,
            exec,
            ("sandbox.read", "sandbox_read_file"),
            ("sandbox.remove", "sandbox_close"),
        ]
    );
    assert!(records.iter().all(|record| record["correlationId"] == cause), "{records:#?}");
    let codes: Vec<_> = records.iter().filter_map(|record| record["outcome"].get("exitCode")).collect();
    assert_eq!(codes, [&json!(1), &json!(0)]);
}

#[test]
fn an_agent_works_in_a_sandbox_and_the_record_tells_it_in_order() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let mut client = ByHand::connect(&program);
    let cause = told(|name, arguments| client.call(name, arguments));
    client.end();
    is_on_the_record(&program, &cause);
}

#[test]
fn a_command_by_itself_leaves_nothing_and_a_session_keeps_its_files() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let mut client = ByHand::connect(&program);
    let shell = |text: &str| json!({"shell": text});
    assert_eq!(client.does("run_command", shell("echo a > kept; cat kept"))["stdout"], "a\n");
    assert_eq!(client.does("run_command", shell("cat kept"))["exitCode"], 1);
    let given =
        json!({"argv": ["sh", "-c", "cat; pwd; echo $A"], "stdin": "in\n", "cwd": "/tmp", "env": {"A": "b"}});
    assert_eq!(client.does("run_command", given)["stdout"], "in\n/tmp\nb\n");
    let first = client.does("run_command", json!({"shell": "echo a > kept", "session": "new"}));
    let session = first["sandboxId"].clone();
    let next = client.does("run_command", json!({"shell": "cat kept", "session": session}));
    assert_eq!((&next["stdout"], &next["correlationId"]), (&json!("a\n"), &first["correlationId"]));
    let late = client.call("run_command", json!({"argv": ["sleep", "60"], "timeout_seconds": 0.2}));
    assert!(text(&late).starts_with("timed out"), "{late:#}");
    assert_eq!(late["structuredContent"]["timedOut"], true);
    let none = client.call("run_command", json!({"argv": ["no-such-program"]}));
    assert!(text(&none).contains("no such program"), "{none:#}");
    // What nobody offers is not taken.
    let wide = client.call("run_command", json!({"shell": "true", "network": "full"}));
    assert_eq!(failed(&wide), "INVALID_INPUT");
    client.end();
}

#[test]
fn a_flood_is_bounded_and_says_so() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let mut client = ByHand::connect(&program);
    let flood = client.call("run_command", json!({"shell": "head -c 5000000 /dev/zero | tr '\\0' x"}));
    let said = flood["structuredContent"]["stdout"].as_str().expect("text").len();
    assert_eq!((said, &flood["structuredContent"]["stdoutTruncated"]), (128 * 1024, &json!(true)));
    let told = text(&flood);
    assert!(
        told.len() < 40 * 1024 && told.contains("truncated") && told.contains("left out"),
        "{}",
        told.len()
    );
    client.end();
}

#[test]
fn files_go_in_and_out_as_they_are() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let mut client = ByHand::connect(&program);
    let sandbox = client.does("sandbox_create", json!({"env": {"A": "1"}}))["sandboxId"].clone();
    let at = |path: &str| json!({"sandbox_id": sandbox, "path": path});
    let up = json!({"sandbox_id": sandbox, "path": "run", "base64": "IyEvYmluL3NoCmVjaG8gJEEK", "executable": true});
    assert_eq!(client.does("sandbox_upload", up)["bytes"], 18);
    let ran = client.does("sandbox_exec", json!({"sandbox_id": sandbox, "argv": ["./run"]}));
    assert_eq!(ran["stdout"], "1\n", "{ran:#}");
    assert_eq!(client.does("sandbox_download", at("run"))["base64"], "IyEvYmluL3NoCmVjaG8gJEEK");
    client.does(
        "sandbox_exec",
        json!({"sandbox_id": sandbox, "shell": "printf '\\377' > bad; seq 100000 > long"}),
    );
    assert_eq!(failed(&client.call("sandbox_read_file", at("bad"))), "INVALID_INPUT");
    assert_eq!(failed(&client.call("sandbox_read_file", at("none"))), "NOT_FOUND");
    let listed = client.does("sandbox_list_files", json!({"sandbox_id": sandbox}));
    let names: Vec<_> =
        listed["entries"].as_array().expect("entries").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["bad", "long", "run"]);
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let part = client
            .does("sandbox_read_file", json!({"sandbox_id": sandbox, "path": "long", "offset": offset}));
        whole += part["content"].as_str().expect("text");
        offset = whole.len();
        if part["truncated"] == false {
            break;
        }
    }
    assert!(whole.ends_with("99999\n100000\n") && whole.lines().count() == 100_000);
    client.end();
}

#[test]
fn a_person_is_asked_where_agents_can_change_the_host() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let folder = program.working_folder().join("shared");
    make(&folder);
    let more = format!(
        "[mcp.sandbox]\nmounts = [\"{}:/shared:rw\"]\n[approvals]\nelicitation = \"L4\"\n",
        folder.display()
    );
    let program =
        program.with_home_file(".config/bailiwick/bailiwick.toml", &format!("{}{more}", super::TOOLS));
    let mut client = ByHand::connect(&program);
    let listed = client.ask("tools/list", json!({}));
    let tool = |name: &str| {
        let all = listed["tools"].as_array().into_iter().flatten();
        all.clone().find(|tool| tool["name"] == name).expect("a tool").clone()
    };
    assert_eq!(tool("run_command")["_meta"]["bailiwick/risk"], "L4");
    assert_eq!(tool("run_command")["annotations"]["destructiveHint"], true);
    assert_eq!(tool("sandbox_close")["_meta"]["bailiwick/risk"], "L0");
    let command = json!({"shell": "echo changed > /shared/file"});
    assert_eq!(failed(&client.call("run_command", command.clone())), "APPROVAL_DECLINED");
    assert!(!folder.join("file").exists(), "nothing ran");
    client.answer = json!({"action": "accept", "content": {"approve": true}});
    assert_eq!(client.does("run_command", command)["exitCode"], 0);
    assert!(folder.join("file").exists());
    let message =
        client.asked.last().and_then(|asked| asked["message"].as_str()).expect("a message").to_owned();
    assert!(message.contains("read-write mount") && message.contains("echo changed"), "{message}");
    client.end();
}

fn make(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).expect("permissions");
}
