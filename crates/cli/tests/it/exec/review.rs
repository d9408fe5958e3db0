//! Changes under overlays, as people review them: nothing lands before somebody takes it.

use bailiwick_testkit::requires;
use serde_json::Value;

use super::{bailiwick, has_sandboxes, read};

#[test]
fn what_one_command_changes_lands_only_when_that_was_asked_for_and_it_ended_well() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick().with_file("project/a.txt", "one\n");
    let file = program.working_folder().join("project/a.txt");
    let change = |exit: &str| format!("echo two >> a.txt; echo new > b.txt; exit {exit}");
    let run = program.run(&["exec", "--overlay", "project", "--", "sh", "-c", &change("0")]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("2 changes") && run.stderr.contains("--commit"), "{}", run.stderr);
    assert_eq!(read(&file), "one\n");
    let run = program.run(&["exec", "--overlay", "project", "--commit", "--", "sh", "-c", &change("3")]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("did not end well"), "{}", run.stderr);
    assert_eq!(read(&file), "one\n");
    let run = program.run(&["exec", "--overlay", "project", "--commit", "--", "sh", "-c", &change("0")]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(read(&file), "one\ntwo\n");
    assert_eq!(read(&program.working_folder().join("project/b.txt")), "new\n");
    let refused = program.run(&["exec", "--commit", "--", "true"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own, changed behind a sandbox's back")]
fn changes_are_shown_taken_and_dropped_path_by_path() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick()
        .with_file("project/a.txt", "one\n")
        .with_file("project/gone.txt", "old\n")
        .with_file("project/both.txt", "mine\n");
    let folder = program.working_folder().join("project");
    std::os::unix::fs::symlink("a.txt", folder.join("link")).unwrap();
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    let run = |arguments: &[&str], code: i32| {
        let run = program.run(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}{}", run.stdout, run.stderr);
        run
    };
    run(&["-q", "sandbox", "create", "--name", "job", "--overlay", "project"], 0);
    let script = "echo two >> a.txt; rm gone.txt link; echo theirs > both.txt; mkdir -p deep; echo n > deep/new; \
        mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout";
    run(&["sandbox", "exec", "job", "--", "sh", "-c", script], 0);
    let shown = run(&["sandbox", "diff", "job"], 0);
    for line in ["+two", "deleted file mode 100644", "diff --git a/deep/new b/deep/new", "+theirs"] {
        assert!(shown.stdout.contains(line), "{line}: {}", shown.stdout);
    }
    assert!(shown.stderr.contains("look twice: .git/hooks/post-checkout"), "{}", shown.stderr);
    assert_eq!(read(&folder.join("a.txt")), "one\n");
    // A file that the host changed meanwhile is a conflict, and everything waits for it.
    std::fs::write(folder.join("both.txt"), "changed here\n").unwrap();
    let refused = run(&["sandbox", "commit", "job"], 2);
    assert!(
        refused.stderr.contains("both.txt") && refused.stderr.contains("meanwhile"),
        "{}",
        refused.stderr
    );
    assert_eq!((read(&folder.join("a.txt")).as_str(), folder.join("deep").exists()), ("one\n", false));
    run(&["sandbox", "commit", "job", "a.txt", "deep"], 0);
    assert_eq!(read(&folder.join("a.txt")), "one\ntwo\n");
    assert_eq!(read(&folder.join("deep/new")), "n\n");
    assert_eq!(read(&folder.join("both.txt")), "changed here\n");
    assert!(folder.join("gone.txt").exists());
    // What is dropped is as the host has it, links and all.
    run(&["sandbox", "discard", "job", "gone.txt", "link", ".git"], 0);
    let seen = run(&["sandbox", "exec", "job", "--", "sh", "-c", "cat gone.txt; readlink link; ls -A"], 0);
    assert_eq!(seen.stdout, "old\na.txt\na.txt\nboth.txt\ndeep\ngone.txt\nlink\n");
    let left: Value = serde_json::from_str(&run(&["sandbox", "diff", "job", "--json"], 0).stdout).unwrap();
    assert_eq!(left["count"], 1, "{left}");
    run(&["sandbox", "discard", "job"], 0);
    let seen = run(&["sandbox", "exec", "job", "--", "cat", "both.txt"], 0);
    assert_eq!(seen.stdout, "changed here\n");
    let records = run(&["audit", "tail", "--json"], 0).stdout;
    for action in ["sandbox.commit", "sandbox.discard"] {
        assert!(records.contains(action), "{action}");
    }
    run(&["sandbox", "diff", "job", "--at", "/elsewhere"], 2);
    owner.terminate();
    assert_eq!(owner.end().0, Some(0));
}
