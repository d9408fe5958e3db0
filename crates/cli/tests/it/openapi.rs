//! The server against its own description: a stranger's program reads the description and tries what it allows and
//! what it forbids.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what both tests share is a test, too, and not marked as one"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use bailiwick_testkit::requires;

use super::bailiwick;

/// Cases that are tried for each operation, in each phase.
const CASES: &str = "25";

/// Nothing of ours fails, and every answer is of a status, a kind and a shape that the description has. What the tool
/// takes for good input is left out: that a cursor is none of ours, or that code does not parse, no schema can say; and a stream that is asked for
/// begins before its document is looked at.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,ignored_auth,use_after_free";

/// The same for sandboxes, where a wall that this machine does not have, or no room for one more, is a 501 or a 503 that the
/// description has.
const CHECKS_OF_SANDBOXES: &str = "status_code_conformance,content_type_conformance,response_headers_conformance,\
                                   response_schema_conformance,ignored_auth,use_after_free";

/// Where sandboxes are.
const SANDBOXES: &str = "^/v1/(exec|sandboxes|snapshots)(/|$)";

#[test]
fn the_server_does_what_its_description_says() {
    // A stream of events has no end to wait for; it is tried elsewhere.
    check(&["--checks", CHECKS, "--exclude-path-regex", &format!("^/v1/events$|{SANDBOXES}")]);
}

#[test]
fn sandboxes_do_what_their_description_says() {
    check(&["--checks", CHECKS_OF_SANDBOXES, "--include-path-regex", SANDBOXES]);
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the program that tries the server is started by this test")]
fn check(arguments: &[&str]) {
    let tool = schemathesis();
    requires!("schemathesis", tool.is_file());
    let program = bailiwick();
    let server = program.start(&[
        "--json",
        "--set",
        "server.perSecond=100000",
        "--set",
        "approvals.deadline=1s",
        "serve",
        "--listen",
        "127.0.0.1:0",
    ]);
    let line = server.wait_for("\n");
    let said: serde_json::Value =
        serde_json::from_str(line.lines().find(|line| line.starts_with('{')).expect("a line")).expect("JSON");
    let url = said["listens"].as_str().expect("where it listens");
    let key_file = said["operatorKey"].as_str().expect("where the key is");
    let key = std::fs::read_to_string(key_file).expect("the operator's key");
    let mut trying = Command::new(&tool);
    trying
        .arg("run")
        .arg(format!("{url}/v1/openapi.json"))
        .args(["--header", &format!("Authorization: Bearer {}", key.trim())])
        .args(arguments)
        .args(["--max-examples", CASES, "--request-timeout", "30", "--no-color"])
        .args(["--generation-deterministic"])
        .current_dir(program.working_folder());
    let tried = trying.output().expect("it starts");
    let told = String::from_utf8_lossy(&tried.stdout);
    assert!(tried.status.success(), "{told}\n{}", String::from_utf8_lossy(&tried.stderr));
    server.terminate();
    let (code, text) = server.end();
    assert_eq!(code, Some(0), "{text}");
    let verified = program.run(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
}

/// Where `make deps` puts it.
fn schemathesis() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/schemathesis")
}
