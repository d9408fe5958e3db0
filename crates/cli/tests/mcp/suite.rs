//! The official conformance suite, once for each era, against the server of fixture tools.
//!
//! The files in `expected` hold what is not offered. The suite fails both where something else fails and where something
//! in them passes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use bailiwick_testkit::requires;
use serde_json::Value;

use super::fixture::Server;
use super::{has_node, node, programs};

/// What the suite runs without counting it, and we count: the rest of that are extensions.
const COUNTED_BESIDE: &[&str] = &[
    "http-custom-header-server-validation",
    "http-header-validation",
    "json-schema-2020-12",
    "server-session-lifecycle",
    "server-sse-polling",
];

#[test]
fn the_conformance_suite_of_the_era_of_sessions_passes() {
    check("2025-11-25");
}

#[test]
fn the_conformance_suite_of_the_era_without_sessions_passes() {
    check("2026-07-28");
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the suite is a program of its own, started by its test")]
fn check(revision: &str) {
    requires!("mcp-node", has_node());
    let server = Server::start();
    let results = tempfile::tempdir().expect("a folder");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/expected");
    let tried = Command::new(node())
        .arg(programs().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", &server.url, "--requirements", revision, "--expected-failures"])
        .arg(here.join(format!("{revision}.yml")))
        .arg("--output-dir")
        .arg(results.path())
        .current_dir(results.path())
        .stdin(Stdio::null())
        .output()
        .expect("the suite starts");
    let told = String::from_utf8_lossy(&tried.stdout);
    let found = Found::read(results.path());
    let all = &found.broken;
    assert!(tried.status.success(), "{told}\n{}\n{all:#?}", String::from_utf8_lossy(&tried.stderr));
    let summary = format!("{revision}: {} checks passed in {} scenarios", found.passed, found.scenarios);
    writeln!(std::io::stderr(), "{summary}").expect("somebody reads it");
    assert!(found.passed > 0, "checks were made: {told}");
    let counted: Vec<_> = all.iter().filter(|(check, _)| is_counted(check)).collect();
    assert!(counted.is_empty(), "{counted:#?}");
    server.end();
}

/// What the suite wrote down.
#[derive(Default)]
struct Found {
    scenarios: usize,
    passed: usize,
    /// Each check that failed, or might better not have, and why.
    broken: BTreeMap<String, Value>,
}

impl Found {
    #[expect(clippy::disallowed_methods, reason = "the results of the suite are in a folder of this test")]
    fn read(results: &Path) -> Self {
        let mut found = Self::default();
        for folder in std::fs::read_dir(results).expect("the results") {
            let folder = folder.expect("a result").path();
            let Ok(text) = std::fs::read_to_string(folder.join("checks.json")) else { continue };
            let checks: Vec<Value> = serde_json::from_str(&text).expect("checks");
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.scenarios += 1;
            for check in checks {
                match check["status"].as_str() {
                    Some("SUCCESS") => found.passed += 1,
                    Some("FAILURE" | "WARNING") => {
                        found.broken.insert(format!("{name} {}", check["id"]), check["errorMessage"].clone());
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

/// Whether a check is of a scenario that we count though the suite does not.
fn is_counted(check: &str) -> bool {
    COUNTED_BESIDE.iter().any(|scenario| check.contains(scenario))
}
