//! How a server starts and ends, and what it says.

use std::os::unix::fs::PermissionsExt as _;

use super::{GREET, Serving, bailiwick, run};

#[test]
fn it_says_where_it_is_and_never_the_key() {
    let program = bailiwick();
    let running = program.start(&["serve", "--listen", "127.0.0.1:0", "--preset", "none"]);
    let text = running.wait_for("Ctrl-C ends it");
    for said in
        ["listens       http://127.0.0.1:", "data ", "operator key", "0 published", "walls ", "curl -H"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let path = program.home().join(".local/share/bailiwick/operator.key");
    let key = bailiwick_config::files::read_document(&path).expect("the operator's key");
    assert!(key.starts_with("bwk_") && !text.contains(key.trim()), "{text}");
    let mode = path.metadata().expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    running.interrupt();
    let (code, text) = running.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(run(&program, &["audit", "verify"], 0).stdout.contains("0 not yet signed"));
}

#[test]
fn a_first_start_publishes_the_preset_and_a_second_does_not() {
    let program = bailiwick();
    let first = program.start(&["serve", "--listen", "127.0.0.1:0", "--set", "server.preset=starter"]);
    let told = first.wait_for("5 of 5 tools are published");
    assert!(told.contains("first start: the preset `starter` follows"), "{told}");
    let called = run(&program, &["tool", "call", "math_evaluate", "--arg", "expression=2^10"], 0);
    assert!(called.stdout.contains("1024"), "{}", called.stdout);
    run(&program, &["tool", "rm", "date_now", "--yes"], 0);
    first.terminate();
    assert_eq!(first.end().0, Some(0));
    let second = program.start(&["serve", "--listen", "127.0.0.1:0", "--preset", "starter"]);
    let text = second.wait_for("Ctrl-C ends it");
    assert!(text.contains("4 published") && text.contains("math_evaluate, "), "{text}");
    assert!(!text.contains("first start"), "{text}");
    second.terminate();
    let (_, text) = second.end();
    assert!(!text.contains("tools are published"), "{text}");
}

#[test]
fn what_it_prints_to_be_typed_names_a_folder_that_is_not_the_usual_one() {
    let program = bailiwick();
    let usual = program.start(&["serve", "--listen", "127.0.0.1:0", "--preset", "none"]);
    let text = usual.wait_for("Ctrl-C ends it");
    assert!(text.contains("  bailiwick approvals") && !text.contains("--data"), "{text}");
    assert!(!text.contains("warning:"), "{text}");
    let folder = program.home().join("other data");
    let folder = folder.to_str().expect("a name");
    let arguments =
        ["serve", "--listen", "127.0.0.1:0", "--preset", "none", "--insecure-no-auth", "--data", folder];
    let other = program.start(&arguments);
    other.wait_for("Ctrl-C ends it");
    let text = other.wait_for("may call published tools without a key");
    for said in
        [format!("  bailiwick --data '{folder}' approvals"), format!("$(cat '{folder}/operator.key')")]
    {
        assert!(text.contains(&said), "{said}: {text}");
    }
    for running in [usual, other] {
        running.terminate();
        assert_eq!(running.end().0, Some(0));
    }
}

#[test]
fn a_preset_that_there_is_not_is_refused_before_anything_is_done() {
    let refused = run(&bailiwick(), &["serve", "--listen", "127.0.0.1:0", "--preset", "starters"], 2);
    assert!(refused.stderr.contains("there are everything, files, none, starter, web"), "{}", refused.stderr);
}

#[test]
fn a_folder_that_is_owned_is_refused_and_its_owner_is_named() {
    let program = bailiwick();
    let first = Serving::start(&program, &[]);
    let second = run(&program, &["serve", "--listen", "127.0.0.1:0"], 2);
    let pid = format!("process {} owns", first.running.id());
    assert!(second.stderr.contains(&pid), "{}", second.stderr);
    first.end();
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let program = bailiwick();
    let first = Serving::start(&program, &[]);
    let address = first.address().trim_start_matches("http://").to_owned();
    let second = run(&bailiwick(), &["serve", "--listen", &address], 5);
    assert!(second.stderr.contains("--listen"), "{}", second.stderr);
    first.end();
}

#[test]
fn whoever_shows_no_key_can_call_and_nothing_else() {
    let program = bailiwick().with_file("greet.tool.yaml", GREET);
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "greet.tool.yaml"], 0);
    let keyless = bailiwick().with_file("greet.tool.yaml", GREET);
    let keyless = keyless.with_variable("BAILIWICK_SERVER", server.address());
    run(&keyless, &["tool", "call", "greet", "--arg", "who=you"], 0);
    for arguments in [
        &["tool", "publish", "greet.tool.yaml"][..],
        &["tool", "import", "greet.tool.yaml"],
        &["approvals", "list"],
        &["key", "list"],
        &["audit", "tail"],
    ] {
        run(&keyless, arguments, 3);
    }
    server.end();
}

#[cfg(not(feature = "otlp"))]
#[test]
fn whoever_waits_for_traces_of_a_program_that_sends_none_is_told() {
    let program = bailiwick().with_variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let text = Serving::start(&program, &[]).end();
    assert!(text.contains("no traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT is set"), "{text}");
}
