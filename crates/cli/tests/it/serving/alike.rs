//! The same commands with the data folder, through its owner, and at a server: the same output, the same exit code.

use bailiwick_testkit::Program;

use super::{GREET, Serving, bailiwick};

/// What is run, in this order.
const COMMANDS: &[&[&str]] = &[
    &["tool", "list"],
    &["tool", "check", "greet.tool.yaml"],
    &["tool", "check", "wrong.tool.yaml"],
    &["tool", "test", "greet.tool.yaml"],
    &["tool", "test", "fails.tool.yaml"],
    &["tool", "publish", "fails.tool.yaml"],
    &["tool", "import", "greet.tool.yaml"],
    &["tool", "test", "greet"],
    &["tool", "test", "--all", "--json"],
    &["tool", "publish", "greet"],
    &["tool", "publish", "again.tool.yaml"],
    &["tool", "list"],
    &["tool", "list", "--json"],
    &["tool", "show", "greet"],
    &["tool", "show", "greet", "--definition"],
    &["tool", "show", "nothing"],
    &["tool", "call", "greet", "--arg", "who=you"],
    &["tool", "call", "greet", "--arg", "who=you", "--json"],
    &["tool", "call", "greet"],
    &["tool", "call", "nothing"],
    &["tool", "export", "greet", "--to", "out"],
    &["tool", "unpublish", "greet"],
    &["tool", "call", "greet", "--arg", "who=you"],
    &["tool", "rm", "greet", "--yes"],
    &["tool", "rm", "greet", "--yes"],
    &["tool", "import", "--preset", "starter"],
    &["run", "-e", "console.log('here'); return 40 + 2"],
    &["run", "-p", "n * 2", "--arg", "n=21"],
    &["run", "-e", "throw new Error('no')"],
    &["run", "--timeout", "20ms", "-e", "for (;;) {}"],
    &["run", "--check", "-e", "eval('1')"],
    &["run", "-e", "return 1", "--json"],
    &["limits"],
    &["limits", "--json"],
    &["approvals", "list"],
    &["approvals", "yes", "01890000-0000-7000-8000-000000000000"],
    &["approvals", "remembered"],
    &["key", "revoke", "nothing"],
    &["audit", "show", "none-such"],
];

fn machine() -> Program {
    let fails = GREET.replace("name: greet\n", "name: fails\n").replace("Hello you!", "Bye!");
    bailiwick()
        .with_file("greet.tool.yaml", GREET)
        .with_file("again.tool.yaml", &GREET.replace("name: greet\n", "name: again\n"))
        .with_file("fails.tool.yaml", &fails)
        .with_file("wrong.tool.yaml", "name: wrong\ntitel: x\n")
}

/// What differs from run to run is left out: ids, times, how long something took.
fn steady(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.split(['"', ' ']).map(word).collect::<Vec<_>>().join(" ");
        let line = match line.find("Ms :") {
            Some(at) => format!("{} N", &line[..at]),
            None => line,
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

fn word(word: &str) -> &str {
    let word = word.trim_end_matches(',');
    let is_id = word.len() == 36 && word.matches('-').count() == 4;
    let is_time = word.starts_with("20") && word.contains('T') && word.ends_with('Z');
    let is_number = word.parse::<f64>().is_ok() && word.contains('.');
    if is_id || is_time || is_number { "…" } else { word }
}

/// Fields of a report whose numbers differ from run to run.
fn without_usage(text: &str) -> String {
    let varies = ["\"steps\"", "\"memoryPeak\"", "\"wallMs\"", "\"cpuMs\"", "\"ms\"", "\"at\""];
    let mut out = String::new();
    // Only who serves many calls bounds their memory together.
    let mut left_out = 0;
    for line in text.lines() {
        if left_out > 0 || varies.iter().any(|field| line.trim_start().starts_with(field)) {
            left_out = u32::saturating_sub(left_out, 1);
            continue;
        }
        if line.contains("memory of all calls together") {
            left_out = 2;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[test]
fn commands_do_the_same_with_a_folder_through_its_owner_and_at_a_server() {
    let alone = machine();
    let through_owner = machine();
    let holder = Serving::start(&through_owner, &[]);
    let asked_machine = machine();
    let server = Serving::start(&asked_machine, &[]);
    let asked_machine = asked_machine.with_variable("BAILIWICK_SERVER", server.address());
    let mut different = Vec::new();
    for arguments in COMMANDS {
        let [expected, through, asked] = [&alone, &through_owner, &asked_machine].map(|program| {
            let run = program.run(arguments);
            (run.code, steady(&without_usage(&run.stdout)), steady(&without_usage(&run.stderr)))
        });
        for (place, run) in [("through the owner", through), ("at a server", asked)] {
            if run != expected {
                different.push(format!("{place}: {arguments:?}\n{run:?}\n{expected:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
    holder.end();
    server.end();
}

#[test]
fn what_cannot_be_asked_of_a_server_says_so() {
    let program = bailiwick().with_variable("BAILIWICK_SERVER", "http://127.0.0.1:9");
    for arguments in [
        &["serve"][..],
        &["secret", "set", "A"],
        &["secret", "rm", "A"],
        &["run", "--record", "x", "-e", "1"],
        &["limits", "--profile", "web"],
        &["tool", "call", "x", "--insecure-cells"],
    ] {
        let run = program.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("BAILIWICK_SERVER names the server"), "{arguments:?}: {}", run.stderr);
    }
}

/// Commands that work on this machine whatever server is named.
const HERE: &[&[&str]] = &[
    &["policy", "show"],
    &["policy", "explain", "--query", "timers"],
    &["policy", "diff", "a.yaml", "a.yaml"],
    &["policy", "learn", "greet.tool.yaml"],
    &["config", "show"],
    &["trust", "--list"],
    &["doctor"],
    &["jsrun"],
];

#[test]
fn what_works_here_only_refuses_a_server_that_was_typed_and_notes_one_in_the_environment() {
    let address = "http://127.0.0.1:9";
    let machine = machine().with_file("a.yaml", "addAllow: [timers]\nremoveDeny: [timers]\n");
    for arguments in HERE {
        let typed = [*arguments, &["--server", address]].concat();
        let run = machine.run(&typed);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("on this machine only, and --server names"), "{}", run.stderr);
    }
    let expected: Vec<_> = HERE.iter().map(|arguments| machine.run(arguments).code).collect();
    let machine = machine.with_variable("BAILIWICK_SERVER", address);
    for (arguments, code) in HERE.iter().zip(expected) {
        let run = machine.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("note: `") && run.stderr.contains("is not asked"), "{}", run.stderr);
        for silent in ["--json", "--quiet"] {
            let run = machine.run(&[*arguments, &[silent]].concat());
            assert!(!run.stderr.contains("is not asked"), "{arguments:?}: {}", run.stderr);
        }
    }
}

#[test]
fn what_nobody_would_ask_a_server_says_nothing_of_one_in_the_environment() {
    let program = bailiwick().with_variable("BAILIWICK_SERVER", "http://127.0.0.1:9");
    for arguments in [&["completions", "bash"][..], &["man"], &["tool", "new", "x", "--yes"]] {
        let run = program.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("127.0.0.1:9"), "{}", run.stderr);
    }
}
