//! The `OpenAPI` document: as it is committed, and whole.

use std::path::{Path, PathBuf};

use bailiwick_config::files;
use bailiwick_http::MCP_PATH;
use bailiwick_http::routes::{MAY_RUN, RUNS, RUNS_NOTHING, UPGRADES, openapi};
use serde_json::Value;

use crate::schema::{document, operations};

bailiwick_testkit::tests!(
    the_committed_document_is_the_one_that_is_served,
    every_reference_leads_somewhere,
    every_operation_has_a_name_a_summary_and_its_refusals,
    whatever_is_posted_to_runs_something_or_nothing,
);

/// With this argument the binary writes the document in place of running tests.
pub(crate) const WRITE: &str = "--write-document";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

/// Writes the document to where it is committed.
pub(crate) fn write() {
    files::replace(&path(), &openapi(), files::Readers::Everybody).expect("written");
}

fn the_committed_document_is_the_one_that_is_served() {
    let committed = files::read_config(&path()).expect("readable");
    assert!(
        committed.as_deref() == Some(openapi().as_str()),
        "docs/openapi.json is not current: run `make gen`"
    );
    assert_eq!(document()["openapi"], "3.1.0");
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|inner| references(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

fn every_reference_leads_somewhere() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a reference within");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

fn every_operation_has_a_name_a_summary_and_its_refusals() {
    let document = document();
    let mut names = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("an item") {
            let shown = format!("{method} {path}");
            assert!(operation["summary"].is_string(), "{shown}");
            assert!(names.insert(operation["operationId"].to_string()), "{shown}");
            let statuses = operation["responses"].as_object().expect("responses");
            let wanted: &[&str] =
                if path.starts_with("/v1/") { &["400", "401", "403", "429", "500", "503"] } else { &["503"] };
            for (status, response) in statuses {
                let described = response["description"].is_string() || response["$ref"].is_string();
                assert!(described, "{shown}: {status} is not described");
            }
            for status in wanted {
                assert!(statuses.contains_key(*status), "{shown} has no {status}");
            }
        }
    }
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
}

fn whatever_is_posted_to_runs_something_or_nothing() {
    let operations = operations();
    let mut posted: Vec<&str> = operations.iter().filter_map(|name| name.strip_prefix("POST ")).collect();
    // Its messages are described by another document.
    posted.push(MCP_PATH);
    for path in &posted {
        let lists = [RUNS, RUNS_NOTHING, MAY_RUN].into_iter().filter(|list| list.contains(path)).count();
        assert_eq!(lists, 1, "POST {path} has to stand in one of the three lists of routes/room.rs");
    }
    for path in RUNS.iter().chain(RUNS_NOTHING).chain(MAY_RUN) {
        assert!(posted.contains(path), "nothing is posted to {path}");
    }
    for path in UPGRADES {
        assert!(operations.contains(&format!("GET {path}")), "there is nothing to upgrade at {path}");
    }
}
