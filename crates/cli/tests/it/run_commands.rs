//! `sandbox.exec` of code that `run` runs: where its overrides say so, behind the real wall, on the record beside the run.

use bailiwick_testkit::{Program, requires};
use serde_json::{Value, json};

use super::bailiwick;
use super::exec::has_sandboxes;

/// Both words that it takes.
const GRANT: &str = "addAllow: [process.exec]\nremoveDeny: [process.exec]\n";

fn granted() -> Program {
    bailiwick().with_file("grant.yaml", GRANT)
}

#[track_caller]
fn json_of(program: &Program, arguments: &[&str], code: i32) -> Value {
    let run = program.run(arguments);
    assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
    let value = serde_json::from_str(&run.stdout);
    assert!(value.is_ok(), "not one JSON object: {}{}", run.stdout, run.stderr);
    value.unwrap_or_default()
}

/// What code gives under the grant.
#[track_caller]
fn ran(program: &Program, more: &[&str], code: &str, exit: i32) -> Value {
    let mut all = vec!["run", "--json", "--correlation", "story-1", "--overrides", "grant.yaml"];
    all.extend_from_slice(more);
    json_of(program, &[&all[..], &["-e", code]].concat(), exit)
}

/// The records of the story: action, kind, and the code of an outcome.
#[track_caller]
fn story(program: &Program) -> Vec<(String, String, String)> {
    let tail = json_of(program, &["audit", "tail", "-n", "40", "--json"], 0);
    let records = tail.pointer("/records").and_then(Value::as_array).cloned().unwrap_or_default();
    let word = |one: &Value, at: &str| one.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let told = |one: &Value| (word(one, "/action"), word(one, "/kind"), word(one, "/outcome/code"));
    records.iter().filter(|one| word(one, "/correlationId") == "story-1").map(told).collect()
}

fn expected(told: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    told.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}

#[test]
fn code_that_is_run_has_sandboxes_where_its_overrides_say_so() {
    requires!("sandboxes", has_sandboxes());
    let program = granted();
    let code = "const all = await Promise.all([sandbox.exec(['sh', '-c', 'cat; exit 3'], {stdin: 'in'}), sandbox.exec(['id', '-un'])]);\n\
                return all.map(({exitCode, stdout}) => [exitCode, stdout]);";
    let report = ran(&program, &[], code, 0);
    assert_eq!(report["value"], json!([[3, "in"], [0, "sandbox\n"]]), "{report}");
    assert_eq!(report["risk"]["level"], "L5");
    let mut told = story(&program);
    assert_eq!(
        (told.remove(0), told.pop()),
        (expected(&[("run", "intent", "")]).remove(0), expected(&[("run", "outcome", "")]).pop())
    );
    told.sort();
    let (intent, outcome) = (("exec", "intent", ""), ("exec", "outcome", ""));
    assert_eq!(told, expected(&[intent, intent, outcome, outcome]));
    // Without the grant there is nothing of it.
    let run = program.run(&["run", "-p", "typeof sandbox"]);
    assert_eq!(run.stdout.trim(), "\"undefined\"", "{}", run.stderr);
}

#[test]
fn commands_of_a_run_have_the_operators_floor() {
    requires!("sandboxes", has_sandboxes());
    let program = granted();
    let code = "try { await sandbox.exec(['id']) } catch (e) { return e.code }";
    let report = ran(&program, &["--set", "sandbox.floor=MICRO_VM"], code, 0);
    assert_eq!(report["value"], "UNENFORCEABLE", "{report}");
    let refused = [("run", "intent", ""), ("exec", "outcome", "UNENFORCEABLE"), ("run", "outcome", "")];
    assert_eq!(story(&program), expected(&refused));
}

#[test]
fn a_run_whose_time_is_up_ends_its_commands_and_the_record_says_so() {
    requires!("sandboxes", has_sandboxes());
    let program = granted();
    let report = ran(&program, &["--timeout", "2s"], "await sandbox.exec(['sleep', '600'])", 4);
    assert_eq!(report["error"]["code"], "TIMEOUT", "{report}");
    let told = [
        ("run", "intent", ""),
        ("exec", "intent", ""),
        ("exec", "outcome", "CANCELLED"),
        ("run", "outcome", "TIMEOUT"),
    ];
    assert_eq!(story(&program), expected(&told));
}
