//! The starter catalogue: every tool of it passes, wears the badge its page says, and asks where it should.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use bailiwick_document::{Bounds, Format, Value as Tree, parse};
use serde_json::Value;

use crate::bailiwick;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../catalogue")
}

#[expect(clippy::unwrap_used, reason = "a catalogue that cannot be read ends the test")]
fn text(name: &str) -> String {
    bailiwick_config::files::read_document(&folder().join(name)).unwrap()
}

/// The names of the command tools.
#[expect(clippy::unwrap_used, reason = "a catalogue that cannot be read ends the test")]
fn commands() -> Vec<String> {
    let files = folder().join("commands").read_dir().unwrap();
    let name = |file: std::io::Result<std::fs::DirEntry>| {
        file.unwrap().file_name().to_str().unwrap().trim_end_matches(".tool.yaml").to_owned()
    };
    files.map(name).collect()
}

/// The presets, each with its names.
#[expect(clippy::unwrap_used, clippy::panic, reason = "presets that cannot be read end the test")]
fn presets() -> BTreeMap<String, Vec<String>> {
    let tree = parse("presets.yaml", &text("presets.yaml"), Format::Yaml, Bounds::WRITTEN_BY_HAND).unwrap();
    let Tree::Map(presets) = tree.value else { panic!("presets are a map") };
    let names = |value: &Tree| match value {
        Tree::List(list) => list
            .iter()
            .map(|node| match &node.value {
                Tree::Text(name) => name.clone(),
                other => panic!("{other:?} is no name"),
            })
            .collect(),
        other => panic!("{other:?} is no list"),
    };
    presets.iter().map(|(key, node)| (key.text.clone(), names(&node.value))).collect()
}

#[test]
fn every_tool_passes_is_published_and_wears_the_badge_that_its_page_says() {
    let program = bailiwick();
    let catalogue = folder();
    let imported = program.run(&["tool", "import", catalogue.to_str().unwrap(), "--json"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let tested = program.run(&["tool", "test", "--all", "--json"]);
    let report: Value = serde_json::from_str(&tested.stdout).unwrap();
    let tools = report["tools"].as_array().unwrap();
    assert!(tools.len() >= 40, "only {} tools", tools.len());
    // Command tools run in sandboxes, or not at all.
    let has_sandboxes = bailiwick_testkit::has("sandboxes", super::exec::has_sandboxes());
    let commands = commands();
    assert!(commands.len() >= 5, "{commands:?}");
    for tool in tools {
        let name = &tool["tool"];
        if !has_sandboxes && commands.iter().any(|command| command == name) {
            assert_eq!(tool["passed"], false, "{tool:#}");
            continue;
        }
        assert_eq!(tool["passed"], true, "{tool:#}");
        let lines = tool["lines"].as_array().unwrap();
        assert!(lines.len() >= 3, "{name} has too few tests");
        for line in lines {
            assert_eq!(line["verdict"], "passed", "{name}: {line:#}");
        }
    }
    assert!(tested.code == Some(0) || !has_sandboxes, "{}", tested.stderr);

    let page = text("README.md");
    let shown = program.run(&["tool", "list", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let mut names = BTreeSet::new();
    for tool in shown["tools"].as_array().unwrap() {
        let (name, level) = (tool["name"].as_str().unwrap(), tool["level"].as_str().unwrap());
        names.insert(name.to_owned());
        let view = program.run(&["tool", "show", name, "--json"]);
        let view: Value = serde_json::from_str(&view.stdout).unwrap();
        let files = &view["policy"]["files"];
        let changes = files["write"] == true || files["delete"] == true;
        let asks = view["document"]["approval"]["mode"] == "REQUIRED";
        assert!(asks || !changes, "{name} writes or deletes, and asks nobody");
        let row = page.lines().find(|line| line.contains(&format!("[`{name}`]")));
        let row = row.unwrap_or_else(|| panic!("{name} is not on the page"));
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(columns[2], level, "{row}");
        assert_eq!(columns[3] == "required", asks, "{row}");
    }

    let presets = presets();
    let known: Vec<&str> = presets.keys().map(String::as_str).collect();
    assert_eq!(known, ["everything", "files", "none", "starter", "web"]);
    for (preset, listed) in &presets {
        for name in listed {
            assert!(names.contains(name), "the preset {preset} names {name}, which is not there");
        }
    }
    assert_eq!(presets["everything"].iter().cloned().collect::<BTreeSet<_>>(), names);
    assert_eq!((presets["starter"].len(), presets["none"].len()), (5, 0));
    for name in &presets["starter"] {
        let published = program.run(&["tool", "publish", name]);
        assert_eq!(published.code, Some(0), "{}", published.stderr);
    }
    // What is L4 waits for a written reason; with one it is offered, and asks.
    let waits = program.run(&["tool", "publish", "file_write", "--json"]);
    assert!(waits.stdout.contains("AWAITING_REVIEW"), "{}{}", waits.stdout, waits.stderr);
    let offered =
        program.run(&["tool", "publish", "file_write", "--justification", "reports are kept in files"]);
    assert_eq!(offered.code, Some(0), "{}", offered.stderr);
    let asked = program.run(&["tool", "call", "file_write", "--args", r#"{"path":"a.txt","text":"x"}"#]);
    assert_eq!(asked.code, Some(3), "{}{}", asked.stdout, asked.stderr);
    assert!(asked.stderr.contains("APPROVAL_UNAVAILABLE"), "{}", asked.stderr);
    let verified = program.run(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{}", verified.stdout);
}
