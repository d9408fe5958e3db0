//! Sandboxes that outlive a command, kept by whoever owns the data folder.

use bailiwick_testkit::requires;
use serde_json::Value;

use super::{bailiwick, has_sandboxes, read};

#[test]
fn a_sandbox_that_stays_needs_a_process_that_does() {
    let run = bailiwick().run(&["sandbox", "create"]);
    assert_eq!(run.code, Some(5));
    assert!(run.stderr.contains("bailiwick serve"), "{}", run.stderr);
}

#[test]
fn a_kept_sandbox_is_used_by_command_after_command() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick().with_file("inside/x", "one\n").with_file("inside/deep/y", "two\n");
    std::os::unix::fs::symlink("/etc/passwd", program.working_folder().join("inside/link")).unwrap();
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    let run = |arguments: &[&str], code: i32| {
        let run = program.run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}{}", run.stdout, run.stderr);
        run.stdout
    };
    let made: Value =
        serde_json::from_str(&run(&["sandbox", "create", "--name", "job", "--json"], 0)).unwrap();
    let id = made["id"].as_str().unwrap();
    run(&["sandbox", "exec", "job", "--", "sh", "-c", "echo kept > state"], 0);
    assert_eq!(run(&["sandbox", "exec", id, "--", "cat", "state"], 0), "kept\n");
    run(&["sandbox", "exec", "job", "--", "sh", "-c", "exit 9"], 9);
    run(&["sandbox", "exec", "job", "--timeout", "100ms", "--", "sleep", "60"], 124);
    let long = "y".repeat(700_000);
    let counted = program.run_with_input(&["sandbox", "exec", "job", "--", "wc", "-c"], &long);
    assert_eq!(counted.stdout.trim(), "700000", "{}", counted.stderr);
    let all = run(&["sandbox", "exec", "job", "--", "seq", "100000"], 0);
    assert!(all.ends_with("99999\n100000\n") && all.len() == 588_895, "{} bytes", all.len());
    let copied = run(&["sandbox", "cp", "inside", "job:/work/", "--json"], 0);
    let copied: Value = serde_json::from_str(&copied).unwrap();
    assert_eq!((&copied["files"], &copied["leftOut"]), (&2.into(), &1.into()), "a link is left out");
    assert_eq!(run(&["sandbox", "exec", "job", "--", "cat", "inside/x", "inside/deep/y"], 0), "one\ntwo\n");
    run(&["sandbox", "exec", "job", "--", "ln", "-s", "/etc/passwd", "inside/trap"], 0);
    run(&["sandbox", "cp", "job:/work/inside", "back"], 0);
    let back = program.working_folder().join("back");
    assert_eq!((read(&back.join("x")).as_str(), read(&back.join("deep/y")).as_str()), ("one\n", "two\n"));
    assert!(!back.join("trap").exists(), "no link comes out");
    let snapshot = run(&["sandbox", "snapshot", "job"], 0);
    run(&["sandbox", "exec", "job", "--", "rm", "state"], 0);
    run(&["sandbox", "create", "--name", "again", "--from", snapshot.trim()], 0);
    assert_eq!(run(&["sandbox", "exec", "again", "--", "cat", "state"], 0), "kept\n");
    run(&["sandbox", "hibernate", "again"], 0);
    assert_eq!(run(&["sandbox", "exec", "again", "--", "echo", "awake"], 0), "awake\n", "use wakes it");
    let listed: Value = serde_json::from_str(&run(&["sandbox", "ls", "--json"], 0)).unwrap();
    assert_eq!(listed["sandboxes"].as_array().unwrap().len(), 2);
    assert!(run(&["sandbox", "show", "job"], 0).contains("stands"));
    run(&["sandbox", "rm", "job", "again"], 0);
    run(&["sandbox", "show", "job"], 2);
    owner.terminate();
    let (code, text) = owner.end();
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn whoever_goes_away_ends_their_command_and_not_the_sandbox() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    assert_eq!(program.run(&["-q", "sandbox", "create", "--name", "job"]).code, Some(0));
    for (end, code) in [
        (bailiwick_testkit::Running::interrupt as fn(&bailiwick_testkit::Running), Some(130)),
        (bailiwick_testkit::Running::kill, None),
    ] {
        let running =
            program.start(&["sandbox", "exec", "job", "--", "sh", "-c", "echo begun; exec sleep 30"]);
        running.wait_for("begun");
        end(&running);
        assert_eq!(running.end().0, code);
        // It is gone as soon as the owner knows; another command waits for that inside.
        let wait = "while pgrep -x sleep > /dev/null; do :; done; echo gone";
        let run = program.run(&["sandbox", "exec", "job", "--timeout", "20s", "--", "sh", "-c", wait]);
        assert_eq!(run.stdout, "gone\n", "{}", run.stderr);
    }
    owner.terminate();
    assert_eq!(owner.end().0, Some(0));
}

#[test]
fn a_shell_is_a_terminal_inside() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    assert_eq!(program.run(&["-q", "sandbox", "create", "--name", "job"]).code, Some(0));
    let refused = program.run(&["sandbox", "shell", "job"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let mut shell = program.start_at_a_terminal(&["sandbox", "shell", "job"]);
    shell.send("echo $((40 + 2)) here\r");
    shell.wait_for("42 here");
    shell.send("exit 6\r");
    let (code, text) = shell.end();
    assert_eq!(code, Some(6), "{text}");
    owner.terminate();
    assert_eq!(owner.end().0, Some(0));
}

#[test]
fn a_copy_follows_no_link_in_a_folder_that_sandboxes_write_to() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick().with_file("entry/real/x", "inside\n").with_file("outside/x", "outside\n");
    let top = program.working_folder();
    std::os::unix::fs::symlink(top.join("outside"), top.join("entry/out")).unwrap();
    let entry = top.join("entry").display().to_string();
    let program = program.with_variable("BAILIWICK_FS_MOUNTS", &entry);
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    let run = |arguments: &[&str]| program.run(arguments);
    assert_eq!(run(&["sandbox", "create", "--name", "job"]).code, Some(0));
    let read_out = run(&["sandbox", "cp", "entry/out/x", "job:/work/x"]);
    assert_ne!(read_out.code, Some(0), "{}", read_out.stdout);
    assert!(read_out.stderr.contains("no link is followed there"), "{}", read_out.stderr);
    assert_eq!(run(&["sandbox", "cp", "entry/real/x", "job:/work/x"]).code, Some(0));
    assert_eq!(run(&["sandbox", "exec", "job", "--", "cat", "x"]).stdout, "inside\n");
    let written_out = run(&["sandbox", "cp", "job:/work/x", "entry/out/x"]);
    assert!(written_out.stderr.contains("no link is followed there"), "{}", written_out.stderr);
    assert_eq!(read(&top.join("outside/x")), "outside\n");
    assert_eq!(run(&["sandbox", "cp", "job:/work/x", "entry/back"]).code, Some(0));
    assert_eq!(read(&top.join("entry/back")), "inside\n");
}
