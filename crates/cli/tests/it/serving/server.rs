//! Calls at a server: what happens arrives as it happens, and ends when nobody waits.

use bailiwick_testkit::upstream::{Answer, Request, Upstream};

use super::{GREET, Serving, asking, bailiwick, run};

#[test]
fn console_lines_arrive_and_ctrl_c_ends_the_call() {
    let program = bailiwick().with_file("greet.tool.yaml", GREET);
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "greet.tool.yaml"], 0);
    let client = program.with_variable("BAILIWICK_SERVER", server.address());
    let called = run(&client, &["tool", "call", "greet", "--arg", "who=you"], 0);
    assert_eq!((called.stdout.as_str(), called.stderr.as_str()), ("\"Hello you!\"\n", "greeting you\n"));
    let running = client.start(&["run", "--timeout", "20s", "-e", "console.log('begun'); for (;;) {}"]);
    running.wait_for("begun");
    running.interrupt();
    let (code, _) = running.end();
    assert_eq!(code, None, "ended by the signal");
    server.end();
}

#[test]
fn a_person_at_a_terminal_answers_for_their_own_call_at_a_server() {
    let program = bailiwick().with_file("asks.tool.yaml", &asking());
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "asks.tool.yaml"], 0);
    let client = program.with_variable("BAILIWICK_SERVER", server.address());
    for (answer, code) in [("y\n", 0), ("n\n", 3)] {
        let mut call = client.start_at_a_terminal(&["tool", "call", "asks", "--arg", "who=you"]);
        call.wait_for("allow it? [y/N] ");
        call.send(answer);
        let (ended, text) = call.end();
        assert_eq!(ended, Some(code), "{text}");
    }
    let said = run(&client, &["tool", "call", "asks", "--arg", "who=you", "--yes"], 0);
    assert_eq!(said.stdout, "\"Hello you!\"\n");
    server.end();
}

#[test]
fn a_key_without_approve_cannot_answer_for_itself_and_is_told() {
    let program = bailiwick()
        .with_file("asks.tool.yaml", &asking())
        .with_variable("BAILIWICK_APPROVALS_DEADLINE", "2s");
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "asks.tool.yaml"], 0);
    let key = run(&program, &["key", "create", "agent", "--scope", "call"], 0).stdout;
    let agent = program
        .with_variable("BAILIWICK_SERVER", server.address())
        .with_variable("BAILIWICK_KEY", key.trim());
    let refused = run(&agent, &["tool", "call", "asks", "--arg", "who=you", "--yes"], 3);
    assert!(refused.stderr.contains("does not cover `approve`"), "{}", refused.stderr);
    assert!(refused.stderr.contains("APPROVAL_TIMEOUT"), "{}", refused.stderr);
    server.end();
}

#[test]
fn code_with_every_power_over_the_network_cannot_reach_the_server_it_runs_in() {
    let program = bailiwick().with_file("open.yaml", "network: open\n");
    let server = Serving::start(&program, &["--set", "approvals.autoFrom=L5"]);
    let key = program.home().join(".local/share/bailiwick/operator.key");
    let client = bailiwick()
        .with_file("open.yaml", "network: open\n")
        .with_variable("BAILIWICK_SERVER", server.address())
        .with_variable("BAILIWICK_KEY_FILE", key.to_str().unwrap_or_default());
    let port = server.address().rsplit(':').next().unwrap_or_default().to_owned();
    for host in ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"] {
        let code = format!("return (await fetch('http://{host}:{port}/healthz')).status");
        let run_it = ["run", "--overrides", "open.yaml", "-e", &code];
        let refused = run(&client, &run_it, 3);
        assert!(refused.stderr.contains("NET_DENIED"), "{host}: {}", refused.stderr);
        // Nor from a cell of another process that uses the same data folder.
        let refused = run(&program, &run_it, 3);
        assert!(refused.stderr.contains("NET_DENIED"), "{host}: {}", refused.stderr);
    }
    for host in ["127.0.0.2", "0.0.0.0", "[::1]", "[::]"] {
        let code = format!("return (await fetch('http://{host}:{port}/healthz')).status");
        let ended = client.run(&["run", "--overrides", "open.yaml", "-e", &code]);
        assert_ne!(ended.code, Some(0), "{host}: {}", ended.stdout);
    }
    // Another listener on this machine is within reach of `open`, so it is the server that is refused.
    let other = Upstream::http(|_: &Request| Answer::ok("here"));
    let code = format!("return (await fetch('http://{}/')).status", other.address());
    let reached = run(&client, &["run", "--overrides", "open.yaml", "-e", &code], 0);
    assert_eq!(reached.stdout, "200\n");
    server.end();
}

#[test]
fn a_client_that_goes_away_while_its_call_waits_leaves_nothing_to_run() {
    let program = bailiwick().with_file("asks.tool.yaml", &asking());
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "asks.tool.yaml"], 0);
    let agent = bailiwick().with_variable("BAILIWICK_SERVER", server.address());
    let call = agent.start(&["tool", "call", "asks", "--arg", "who=you"]);
    let waits = || run(&program, &["approvals", "list", "--json"], 0).stdout;
    while !waits().contains("\"asks\"") {}
    call.kill();
    call.end();
    while waits().contains("\"asks\"") {}
    let told = run(&program, &["audit", "tail", "-n", "5", "--json"], 0).stdout;
    assert!(told.contains("CANCELLED"), "{told}");
    assert!(!told.contains("\"intent\""), "no cell was taken: {told}");
    server.end();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a client that unpacks what it is sent")]
fn an_export_that_is_packed_comes_whole() {
    bailiwick_testkit::requires!("curl", std::path::Path::new("/usr/bin/curl").is_file());
    let program = bailiwick().with_file("greet.tool.yaml", GREET);
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "greet.tool.yaml"], 0);
    let key = std::fs::read_to_string(program.home().join(".local/share/bailiwick/operator.key"));
    let header = format!("Authorization: Bearer {}", key.unwrap_or_default().trim());
    for (from, least) in [("1", 3), ("1000000", 0)] {
        let address = format!("{}/v1/audit/export?from={from}", server.address());
        let mut curl = std::process::Command::new("curl");
        let got =
            curl.args(["-sS", "--fail", "--compressed", "-H", &header, &address]).output().expect("curl");
        assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
        assert!(String::from_utf8_lossy(&got.stdout).lines().count() >= least);
    }
    server.end();
}
