//! `exec` and `sandbox …` as people and scripts meet them, behind the real wall.

mod kept;
mod review;

use std::path::Path;

use bailiwick_testkit::{Program, Run, requires};
use serde_json::Value;

use super::bailiwick;

/// Whether this machine lets sandboxes stand; a machine on which they must says so by `BAILIWICK_REQUIRE=sandboxes`.
pub(crate) fn has_sandboxes() -> bool {
    let run = bailiwick().run(&["doctor", "--json", "--backend", "process"]);
    let seen: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    seen.pointer("/backends/0/available") == Some(&Value::Bool(true))
}

fn exec(program: &Program, arguments: &[&str]) -> Run {
    let mut all = vec!["-q", "exec"];
    all.extend_from_slice(arguments);
    program.run(&all)
}

#[track_caller]
fn check(arguments: &[&str], code: i32, stdout: &str) {
    let run = exec(&bailiwick(), arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(code), stdout), "{arguments:?}: {}", run.stderr);
}

#[test]
fn exec_exits_as_the_command_does() {
    requires!("sandboxes", has_sandboxes());
    check(&["--", "python3", "-c", "print(1+1)"], 0, "2\n");
    check(&["--", "sh", "-c", "echo before; exit 42"], 42, "before\n");
    check(&["--", "sh", "-c", "kill -KILL $$"], 137, "");
    check(&["--", "sh", "-c", "kill -TERM $$"], 143, "");
    check(&["--timeout", "200ms", "--", "sleep", "60"], 124, "");
    check(&["--", "no-such-program"], 127, "");
    check(&["--", "/etc/passwd"], 126, "");
    check(&["--shell", "echo $0 | tr a-z A-Z"], 0, "/BIN/SH\n");
    check(&["echo", "--json", "-q"], 0, "--json -q\n");
}

#[test]
fn words_are_words_and_no_shell_reads_them() {
    requires!("sandboxes", has_sandboxes());
    check(&["--", "printf", "%s|", "a b", "$HOME", "*", "; exit 3", ""], 0, "a b|$HOME|*|; exit 3||");
}

#[test]
fn the_environment_is_ours_and_what_was_set_and_nothing_else() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick().with_variable("LEAK_ME", "secret");
    let run =
        exec(&program, &["--env", "MINE=1", "--", "sh", "-c", "env | cut -d= -f1 | sort | tr '\\n' ' '"]);
    assert!(!run.stdout.contains("LEAK_ME"), "{}", run.stdout);
    for name in ["HOME", "LANG", "MINE", "PATH", "TMPDIR"] {
        assert!(run.stdout.contains(name), "{name}: {}", run.stdout);
    }
}

#[test]
fn stdin_is_handed_on_and_output_is_cut_with_a_word() {
    requires!("sandboxes", has_sandboxes());
    let long = "x".repeat(300_000);
    let run = bailiwick().run_with_input(&["-q", "exec", "--", "wc", "-c"], &long);
    assert_eq!((run.code, run.stdout.trim()), (Some(0), "300000"), "{}", run.stderr);
    let run = bailiwick().run(&["exec", "--output", "10", "--", "sh", "-c", "seq 100; exit 5"]);
    assert_eq!((run.code, run.stdout.len()), (Some(5), 10), "{}", run.stderr);
    assert!(run.stderr.contains("stdout was cut after 10B"), "{}", run.stderr);
}

#[test]
fn json_is_one_object_of_the_promised_shape() {
    requires!("sandboxes", has_sandboxes());
    let run = bailiwick().run(&[
        "exec",
        "--json",
        "--correlation",
        "me",
        "--",
        "sh",
        "-c",
        "echo o; echo e >&2; exit 3",
    ]);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(run.code, Some(3));
    for (field, value) in [
        ("exitCode", Value::from(3)),
        ("signal", Value::Null),
        ("timedOut", false.into()),
        ("oom", false.into()),
        ("stdout", "o\n".into()),
        ("stdoutTruncated", false.into()),
        ("stderr", "e\n".into()),
        ("stderrTruncated", false.into()),
        ("encoding", "utf8".into()),
        ("denials", Value::Array(Vec::new())),
        ("backend", "process".into()),
        ("tier", "PROCESS".into()),
        ("correlationId", "me".into()),
    ] {
        assert_eq!(result[field], value, "{field}");
    }
    for used in ["wallMs", "cpuMs", "memoryPeak", "processes"] {
        assert!(result["usage"][used].is_number(), "{used}: {}", result["usage"]);
    }
    let walls: Vec<&str> = result["receipt"]["walls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|wall| wall["demand"].as_str().unwrap())
        .collect();
    assert_eq!(walls[..5], ["network", "files", "privilege", "kill", "uid"]);
    assert!(result["sandboxId"].is_string());
    let run = bailiwick().run(&["exec", "--json", "--", "sh", "-c", "printf '\\377'; kill -9 $$"]);
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&result["encoding"], &result["stdout"], &result["signal"], &result["exitCode"]),
        (&"base64".into(), &"/w==".into(), &"SIGKILL".into(), &Value::Null)
    );
    assert_eq!(run.code, Some(137));
}

/// None of these gets as far as a sandbox, so none needs one.
#[test]
fn what_cannot_be_is_refused_with_a_word_before_anything_is_made() {
    let program = bailiwick().with_file("inside/x", "x");
    let work = program.working_folder();
    std::os::unix::fs::symlink("/etc", work.join("inside/out")).unwrap();
    for (arguments, code, says) in [
        (vec!["exec"], 2, "required"),
        (vec!["exec", "--"], 2, "required"),
        (vec!["exec", "--timeout", "0s", "--", "true"], 2, "needs some time"),
        (vec!["exec", "--memory", "-1", "--", "true"], 2, "less than zero"),
        (vec!["exec", "--cpu", "-0.5", "--", "true"], 2, "less than zero"),
        (vec!["exec", "--cpu", "nan", "--", "true"], 2, "not a number"),
        (vec!["exec", "--processes", "lots", "--", "true"], 2, "processes"),
        (vec!["exec", "--memory", "9GiB", "--", "true"], 2, "above the operator's ceiling"),
        (vec!["exec", "--preset", "huge", "--", "true"], 2, "is not a preset"),
        (vec!["exec", "--net", "everything", "--", "true"], 2, "everything"),
        (vec!["exec", "--net", "host", "--", "true"], 125, "does not allow"),
        (vec!["exec", "--env", "A", "--", "true"], 2, "is not NAME=VALUE"),
        (vec!["exec", "--cwd", "work", "--", "true"], 2, "not an absolute path"),
        (vec!["exec", "--mount", "inside:x", "--", "true"], 2, "not an absolute path"),
        (vec!["exec", "--mount", "inside", "--", "true"], 2, "HOST:SANDBOX"),
        (vec!["exec", "--mount", "inside:/x/../y", "--", "true"], 2, "`..`"),
        (vec!["exec", "--mount", "inside:/usr/x", "--", "true"], 2, "nothing can be mounted"),
        (vec!["exec", "--mount", "inside/out:/x", "--", "true"], 125, "is a link out of its folder"),
        (vec!["exec", "--mount", "nothing:/x", "--", "true"], 125, "cannot be mounted"),
        (vec!["exec", "--mount", "/:/x", "--", "true"], 125, "cannot be mounted"),
        (vec!["exec", "--backend", "nope", "--", "true"], 2, "there is no backend `nope`"),
        (vec!["exec", "--tier", "tower", "--", "true"], 2, "is not a tier"),
        (vec!["exec", "--tier", "micro-vm", "--", "true"], 125, "below MICRO_VM"),
        (vec!["exec", "", "x"], 2, "the name of the program is empty"),
        (vec!["exec", "--server", "http://127.0.0.1:1", "--", "true"], 125, "cannot be reached"),
        (vec!["sandbox", "ls", "--server", "http://127.0.0.1:1"], 5, "cannot be reached"),
    ] {
        let run = program.run(&arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{arguments:?}: {} does not say {says:?}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn our_own_folders_are_never_in_a_sandbox() {
    let program = bailiwick();
    // It is made by the first command that needs it.
    assert_eq!(program.run(&["audit", "tail"]).code, Some(0));
    let home = program.home();
    for own in [".local/share/bailiwick", ".local/share", "."] {
        let path = if own == "." { home.clone() } else { home.join(own) };
        let run = exec(&program, &["--mount", &format!("{}:/x", path.display()), "--", "true"]);
        assert_eq!(run.code, Some(125), "{own}: {}", run.stderr);
        assert!(run.stderr.contains("lie in one another"), "{own}: {}", run.stderr);
    }
}

#[test]
fn mounts_are_read_only_unless_they_say_otherwise() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick().with_file("inside/x", "from here\n");
    let run = exec(&program, &["--mount", "inside:/in", "--", "cat", "/in/x"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "from here\n"), "{}", run.stderr);
    let run = exec(&program, &["--mount", "inside:/in", "--", "sh", "-c", "echo changed > /in/x"]);
    assert_ne!(run.code, Some(0));
    let run = exec(&program, &["--mount", "inside:/in:rw", "--", "sh", "-c", "echo made > /in/y"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let read = |name: &str| read(&program.working_folder().join("inside").join(name));
    assert_eq!((read("x").as_str(), read("y").as_str()), ("from here\n", "made\n"));
}

#[expect(clippy::disallowed_methods, reason = "files of a test's own machine")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_signal_to_exec_ends_the_whole_tree() {
    requires!("sandboxes", has_sandboxes());
    for (end, code) in
        [(bailiwick_testkit::Running::interrupt as fn(&_), 130), (bailiwick_testkit::Running::terminate, 143)]
    {
        let program = bailiwick();
        let tree = "sleep 61234 & (sleep 61234 & setsid sleep 61234 &) ; echo begun; wait";
        let running = program.start(&["-q", "exec", "--timeout", "10m", "--", "sh", "-c", tree]);
        running.wait_for("begun");
        end(&running);
        let (ended, text) = running.end();
        assert_eq!(ended, Some(code), "{text}");
        let records = program.run(&["audit", "tail", "-n", "1", "--json"]);
        assert!(records.stdout.contains("CANCELLED"), "{}", records.stdout);
    }
    assert_eq!(processes_called("61234"), 0, "nothing of it is left");
}

/// Processes of this machine with this word among theirs.
#[expect(clippy::disallowed_methods, reason = "looks at the processes of this machine")]
fn processes_called(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())).count()
}

#[test]
fn a_terminal_of_its_own_is_one_and_ours_is_put_back() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let mut running = program.start_at_a_terminal(&[
        "-q",
        "exec",
        "-t",
        "--",
        "sh",
        "-c",
        "tty; read line; echo got $line",
    ]);
    running.wait_for("/dev/pts/");
    running.send("words\r");
    running.wait_for("got words");
    let (code, text) = running.end();
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn commands_are_on_the_record() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let run =
        exec(&program, &["--correlation", "cause", "--env", "K=hidden-value", "--", "echo", "hidden-value"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let shown = program.run(&["audit", "show", "cause", "--json"]);
    assert!(!shown.stdout.contains("hidden-value"), "{}", shown.stdout);
    assert_eq!(shown.stdout.matches("\"exec\"").count(), 2, "{}", shown.stdout);
    assert_eq!(program.run(&["audit", "verify"]).code, Some(0));
}
