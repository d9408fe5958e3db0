//! One owner per data folder: commands go through the process that holds it, and do without where there is none.

use super::bailiwick;

const ONE: &str = "name: one\ndescription: Gives one.\ntests: [{name: one, equals: 1}]\ncode: |\n  console.log('run');\n  return 1;\n";

#[test]
fn commands_go_through_the_owner_and_it_ends_cleanly() {
    let program = bailiwick().with_file("one.tool.yaml", ONE);
    let owner = program.start(&["own"]);
    let line = owner.wait_for("(pid ");
    assert!(line.starts_with("owns ") && line.contains(&format!("(pid {})", owner.id())), "{line}");
    for arguments in
        [&["tool", "check", "one.tool.yaml"][..], &["tool", "publish", "one.tool.yaml"], &["tool", "list"]]
    {
        let run = program.run(arguments);
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    }
    let run = program.run(&["tool", "call", "one"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("1\n", "run\n"), "console lines come along");
    let tail = program.run(&["audit", "tail", "-n", "1"]);
    assert!(tail.stdout.contains("cli uid="), "the record says who asked the owner: {}", tail.stdout);
    owner.terminate();
    let (code, text) = owner.end();
    assert_eq!(code, Some(0), "{text}");
    let verified = program.run(&["audit", "verify"]);
    assert!(verified.stdout.contains("0 not yet signed"), "{}", verified.stdout);
}

#[test]
fn there_is_one_owner_at_a_time() {
    let program = bailiwick();
    let first = program.start(&["own"]);
    first.wait_for("owns ");
    let second = program.run(&["own"]);
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(second.stderr.contains("another process owns"), "{}", second.stderr);
    first.interrupt();
    assert_eq!(first.end().0, Some(0));
}

#[test]
fn what_an_owner_leaves_behind_that_was_killed_is_no_obstacle() {
    let program = bailiwick().with_file("one.tool.yaml", ONE);
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    assert_eq!(program.run(&["tool", "publish", "one.tool.yaml"]).code, Some(0));
    owner.kill();
    owner.end();
    let run = program.run(&["tool", "call", "one"]);
    assert_eq!((run.stdout.as_str(), run.code), ("1\n", Some(0)), "{}", run.stderr);
    assert_eq!(program.run(&["audit", "verify"]).code, Some(0));
}

#[test]
fn a_person_at_a_terminal_answers_for_a_call_that_the_owner_runs() {
    let asks = ONE.replace("tests:", "approval: {mode: REQUIRED}\ntests:");
    let program = bailiwick().with_file("one.tool.yaml", &asks);
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    let run = program.run(&["tool", "publish", "one.tool.yaml"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for (answer, code) in [("y\n", 0), ("n\n", 3)] {
        let mut call = program.start_at_a_terminal(&["tool", "call", "one"]);
        call.wait_for("allow it? [y/N] ");
        call.send(answer);
        let (ended, text) = call.end();
        assert_eq!(ended, Some(code), "{text}");
    }
    owner.terminate();
    assert_eq!(owner.end().0, Some(0));
}
