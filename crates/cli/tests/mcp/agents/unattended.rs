//! Commands of agents that nobody waits for: started, looked at, ended; and what ends with its sandbox.

use bailiwick_testkit::requires;
use serde_json::{Value, json};

use super::by_hand::ByHand;
use super::{failed, has_sandboxes, machine};

#[test]
fn a_background_command_is_started_looked_at_and_ended() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let mut client = ByHand::connect(&program);
    let made = client.does("sandbox_create", json!({}));
    let (sandbox, cause) = (made["sandboxId"].clone(), made["correlationId"].as_str().expect("a cause"));
    let start = |text: &str| json!({"sandbox_id": sandbox, "shell": text, "background": true});
    // It waits for a pipe, so nothing here is a matter of time.
    client.does("sandbox_exec", json!({"sandbox_id": sandbox, "shell": "mkfifo go"}));
    let begun = client.does("sandbox_exec", start("echo one; read x < go; echo $x; sleep 60"));
    assert_eq!(begun["running"], true, "{begun:#}");
    let exec = begun["execId"].clone();
    let look = |cursor: &Value| json!({"sandbox_id": sandbox, "exec_id": exec, "cursor": cursor, "wait_seconds": 20});
    let cursor = until(&mut client, &Value::Null, "one\n", look);
    client.does("sandbox_exec", json!({"sandbox_id": sandbox, "shell": "echo two > go"}));
    until(&mut client, &cursor, "two\n", look);
    let ended = client.does("sandbox_kill", json!({"sandbox_id": sandbox, "exec_id": exec}));
    assert_eq!((&ended["running"], &ended["signal"]), (&json!(false), &json!("SIGKILL")), "{ended:#}");
    // What it started is gone as well.
    let left =
        client.does("sandbox_exec", json!({"sandbox_id": sandbox, "shell": "pgrep sleep || echo none"}));
    assert_eq!(left["stdout"], "none\n", "{left:#}");
    let unknown = client.call("sandbox_poll", json!({"sandbox_id": sandbox, "exec_id": sandbox}));
    assert_eq!(failed(&unknown), "NOT_FOUND");
    // What runs when its sandbox is closed ends with it, and that is on the record.
    client.does("sandbox_exec", start("sleep 60"));
    client.does("sandbox_close", json!({"sandbox_id": sandbox}));
    let cause = cause.to_owned();
    client.end();
    let shown = program.run(&["audit", "show", "--correlation", &cause, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let count = |kind: &str, action: &str| {
        let records = shown["records"].as_array().into_iter().flatten();
        records.filter(|record| record["kind"] == kind && record["action"] == action).count()
    };
    assert_eq!((count("intent", "exec"), count("outcome", "exec")), (5, 5), "{shown:#}");
    assert_eq!((count("intent", "exec.kill"), count("outcome", "exec.kill")), (1, 1), "{shown:#}");
}

/// Looks until it has said so much; gives where to go on.
fn until(client: &mut ByHand, from: &Value, says: &str, look: impl Fn(&Value) -> Value) -> Value {
    let (mut cursor, mut said) = (from.clone(), String::new());
    while said != says {
        let seen = client.does("sandbox_poll", look(&cursor));
        assert_eq!(seen["running"], true, "{seen:#}");
        said += seen["stdout"].as_str().expect("text");
        cursor = seen["cursor"].clone();
        assert!(says.starts_with(&said), "{said}");
    }
    cursor
}

#[test]
fn a_port_that_was_not_listed_is_not_exposed() {
    requires!("sandboxes", has_sandboxes());
    let program = machine("");
    let mut client = ByHand::connect(&program);
    let sandbox = client.does("sandbox_create", json!({}))["sandboxId"].clone();
    let refused = client.call("sandbox_expose", json!({"sandbox_id": sandbox, "port": 8000}));
    assert!(
        ["INVALID_INPUT", "UNSUPPORTED", "FORBIDDEN"].contains(&failed(&refused).as_str()),
        "{refused:#}"
    );
    client.end();
}
