//! Arguments that are wishes, and arguments that are none.

use bailiwick_core::Action;
use bailiwick_core::sandboxes::{AgentDoes, AgentTool, Session};
use serde_json::{Value, json};

use super::{Cause, cursor_of, cursor_text, of};

fn wish(tool: AgentTool, arguments: Value) -> Result<AgentDoes, String> {
    let Value::Object(arguments) = arguments else { panic!("no object") };
    match of(tool, arguments, Cause::default())? {
        (Action::AgentUse(wish), _) => {
            assert_eq!(wish.does.tool(), tool, "a call is by the tool that was asked");
            Ok(wish.does)
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(tool: AgentTool, arguments: Value, says: &str) {
    let given = arguments.to_string();
    let told = wish(tool, arguments).expect_err("it is none");
    assert!(told.contains(says), "{given}: {told}");
}

#[test]
fn what_is_no_wish_says_why() {
    refused(AgentTool::RunCommand, json!({}), "either `argv`");
    refused(AgentTool::RunCommand, json!({"argv": []}), "either `argv`");
    refused(AgentTool::RunCommand, json!({"argv": ["a"], "shell": "a"}), "either `argv`");
    refused(AgentTool::RunCommand, json!({"argv": "ls"}), "invalid type");
    refused(AgentTool::RunCommand, json!({"shell": "a", "timeout_seconds": 0}), "more than none");
    refused(AgentTool::RunCommand, json!({"shell": "a", "timeout_seconds": -1}), "more than none");
    refused(AgentTool::RunCommand, json!({"shell": "a", "cwd": "../x"}), "the path");
    refused(AgentTool::RunPython, json!({}), "missing field `code`");
    refused(AgentTool::Exec, json!({"shell": "a"}), "missing field `sandbox_id`");
    refused(AgentTool::Upload, json!({"sandbox_id": "s", "path": "a", "base64": "%"}), "not base64");
    refused(AgentTool::Poll, json!({"sandbox_id": "s", "exec_id": "e", "cursor": "x"}), "cursor");
    refused(AgentTool::Poll, json!({"sandbox_id": "s", "exec_id": "e", "wait_seconds": 31}), "at most 30");
    refused(AgentTool::Expose, json!({"sandbox_id": "s", "port": 65536}), "65536");
    refused(AgentTool::Download, json!({"sandbox_id": "s"}), "`path` is missing");
}

#[test]
fn nothing_widens_what_the_operator_offers() {
    for (tool, base) in [
        (AgentTool::RunCommand, json!({"shell": "a"})),
        (AgentTool::RunPython, json!({"code": "1"})),
        (AgentTool::Create, json!({})),
        (AgentTool::Exec, json!({"sandbox_id": "s", "shell": "a"})),
    ] {
        for word in ["image", "network", "mounts", "mount", "limits", "preset", "backend", "tier", "overlays"]
        {
            let mut arguments = base.clone();
            arguments[word] = json!("full");
            refused(tool, arguments, &format!("unknown field `{word}`"));
        }
    }
}

#[test]
fn a_session_is_new_or_named_and_what_is_null_was_not_said() {
    for (said, expected) in [
        (json!(null), Session::None),
        (json!("new"), Session::New),
        (json!("abc"), Session::Kept("abc".to_owned())),
    ] {
        let does = wish(AgentTool::RunPython, json!({"code": "1", "session": said}));
        let Ok(AgentDoes::RunPython { session, .. }) = does else { panic!("{does:?}") };
        assert_eq!(session, expected);
    }
}

#[test]
fn a_path_lies_in_the_sandbox() {
    let does = wish(AgentTool::ReadFile, json!({"sandbox_id": "s", "path": "a/b.txt"}));
    let Ok(AgentDoes::ReadFile { path, .. }) = does else { panic!("{does:?}") };
    assert_eq!(path.as_str(), "/work/a/b.txt");
}

#[test]
fn a_cursor_comes_back_as_it_went() {
    let cursor = cursor_of("12:7").expect("a cursor");
    assert_eq!(((cursor.stdout, cursor.stderr), cursor_text(cursor).as_str()), ((12, 7), "12:7"));
}
