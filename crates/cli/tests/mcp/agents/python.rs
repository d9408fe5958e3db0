//! `run_python`: what it gives, what a session keeps, and what is told when that is lost.

use bailiwick_testkit::requires;
use serde_json::{Value, json};

use super::by_hand::ByHand;
use super::{failed, has_sandboxes, machine, text};

fn begins() -> Option<ByHand> {
    has_sandboxes().then(|| ByHand::connect(&machine("")))
}

#[track_caller]
fn check(client: &mut ByHand, session: &Value, code: &str, value: Option<&str>, stdout: &str) {
    let ran = client.does("run_python", json!({"code": code, "session": session}));
    assert_eq!((ran["value"].as_str(), ran["stdout"].as_str()), (value, Some(stdout)), "{code}: {ran:#}");
}

#[test]
fn code_by_itself_gives_its_last_expression_and_keeps_nothing() {
    requires!("sandboxes", has_sandboxes());
    let Some(mut client) = begins() else { return };
    let none = Value::Null;
    check(&mut client, &none, "a = 20\nprint('said')\na + 1", Some("21"), "said\n");
    check(&mut client, &none, "x = 1", None, "");
    check(&mut client, &none, "{'a': [1, 'b']}", Some("{'a': [1, 'b']}"), "");
    check(
        &mut client,
        &none,
        "import subprocess; subprocess.run(['echo', 'sub']).returncode",
        Some("0"),
        "sub\n",
    );
    let ran = client.does("run_python", json!({"code": "a"}));
    assert_eq!((&ran["error"], &ran["exitCode"]), (&json!("NameError: name 'a' is not defined"), &json!(1)));
    let said = ran["stderr"].as_str().expect("text");
    assert!(said.contains("line 1") && !said.contains("exec("), "of the frames, those of the code: {said}");
    let ran = client.does("run_python", json!({"code": "def f(:"}));
    assert!(ran["error"].as_str().is_some_and(|error| error.starts_with("SyntaxError")), "{ran:#}");
    let late = client.does("run_python", json!({"code": "while True: pass", "timeout_seconds": 0.5}));
    assert_eq!(late["timedOut"], true, "{late:#}");
    client.end();
}

#[test]
fn a_session_keeps_variables_between_calls() {
    requires!("sandboxes", has_sandboxes());
    let Some(mut client) = begins() else { return };
    let first = client.does(
        "run_python",
        json!({"code": "import math\na = [1]\ndef f(x): return x * 2", "session": "new"}),
    );
    let session = first["session"].clone();
    assert_eq!((&session, &first["variablesLost"]), (&first["sandboxId"], &json!(false)), "{first:#}");
    check(&mut client, &session, "a.append(f(2)); print('now'); a", Some("[1, 4]"), "now\n");
    check(&mut client, &session, "_ + [math.floor(2.5)]", Some("[1, 4, 2]"), "");
    // An exception loses nothing; nor does an end that the code asks for.
    let raised = client.does("run_python", json!({"code": "1 / 0", "session": session}));
    assert_eq!(raised["error"], "ZeroDivisionError: division by zero", "{raised:#}");
    client.does("run_python", json!({"code": "import sys; sys.exit(3)", "session": session}));
    check(&mut client, &session, "a", Some("[1, 4]"), "");
    // Its files are those of the sandbox.
    check(&mut client, &session, "open('made', 'w').write('by python')", Some("9"), "");
    let read = client.does("sandbox_read_file", json!({"sandbox_id": session, "path": "made"}));
    assert_eq!(read["content"], "by python");
    // One that nobody sees has its own.
    let other = client.does("run_python", json!({"code": "'a' in globals()", "session": "new"}));
    assert_eq!(other["value"], "False");
    client.end();
}

#[test]
fn a_session_that_was_ended_says_that_its_variables_are_lost() {
    requires!("sandboxes", has_sandboxes());
    let Some(mut client) = begins() else { return };
    let begin = json!({"code": "a = 1; open('kept', 'w').write('x')", "session": "new"});
    let session = client.does("run_python", begin)["session"].clone();
    let given = |code: &str| json!({"code": code, "session": session});
    let endless = json!({"code": "while True: pass", "session": session, "timeout_seconds": 0.5});
    let late = client.call("run_python", endless);
    assert_eq!(late["structuredContent"]["variablesLost"], true, "{late:#}");
    assert!(text(&late).contains("variables are lost"), "{late:#}");
    // From here on it begins anew; its files are there.
    check(&mut client, &session, "('a' in globals(), open('kept').read())", Some("(False, 'x')"), "");
    // One that ends itself meanwhile, and one that ended before.
    let ended = client.does("run_python", given("import os; os._exit(1)"));
    assert_eq!(ended["variablesLost"], true, "{ended:#}");
    check(&mut client, &session, "a = 2", None, "");
    let pid = client.does("run_python", given("import os; os.getpid()"))["value"].clone();
    let kill = format!("kill -9 {}", pid.as_str().expect("a number"));
    client.does("sandbox_exec", json!({"sandbox_id": session, "shell": kill}));
    let gone = client.call("run_python", given("a"));
    assert_eq!(failed(&gone), "CONFLICT");
    assert!(text(&gone).contains("its variables are lost; the code did not run"), "{gone:#}");
    check(&mut client, &session, "'a' in globals()", Some("False"), "");
    client.end();
}

#[test]
fn what_python_says_is_bounded() {
    requires!("sandboxes", has_sandboxes());
    let Some(mut client) = begins() else { return };
    for session in [Value::Null, json!("new")] {
        let code = "print('x' * 3_000_000)\n'y' * 1_000_000";
        let ran = client.does("run_python", json!({"code": code, "session": session}));
        assert_eq!(ran["stdoutTruncated"], true);
        assert!(ran["stdout"].as_str().is_some_and(|said| said.len() == 128 * 1024));
        assert!(ran["value"].as_str().is_some_and(|value| value.len() < 66_000 && value.ends_with("more)")));
    }
    client.end();
}
