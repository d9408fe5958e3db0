//! `bailiwick audit …`: the record as it is read, proven, exported and shortened.

use bailiwick_testkit::{Program, Run};
use insta::assert_snapshot;
use serde_json::Value;

use super::bailiwick;

const ONE: &str =
    "name: one\ndescription: Gives one.\ntests: [{name: one, equals: 1}]\ncode: |\n  return 1;\n";

/// A machine on which a tool was published and called.
fn used() -> Program {
    let program = bailiwick().with_file("one.tool.yaml", ONE);
    for arguments in
        [&["tool", "publish", "one.tool.yaml"][..], &["tool", "call", "one", "--correlation", "why-1"]]
    {
        check_code(&program.run(arguments), 0);
    }
    program
}

#[track_caller]
fn check_code(run: &Run, code: i32) {
    assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
}

#[track_caller]
fn json(program: &Program, arguments: &[&str], code: i32) -> Value {
    let run = program.run(&[arguments, &["--json"]].concat());
    check_code(&run, code);
    let value = serde_json::from_str(&run.stdout);
    assert!(value.is_ok(), "not one JSON object: {}{}", run.stdout, run.stderr);
    value.unwrap_or_default()
}

/// A table without its column of times.
fn timeless(table: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != 1)
            .map(|(_, word)| *word)
            .collect::<Vec<_>>()
            .join(" ")
    };
    table.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn what_was_done_is_a_table_the_newest_last() {
    let program = used();
    let run = program.run(&["audit", "tail"]);
    check_code(&run, 0);
    assert_snapshot!(timeless(&run.stdout), @r"
    SEQ KIND ACTION TOOL OUTCOME ACTOR
    1 change policy.change ok operator
    2 change tool.import one DRAFT cli
    3 change tool.test one READY cli
    4 change tool.publish one PUBLISHED cli
    5 intent tool.call one cli
    6 outcome tool.call one ok cli
    ");
    let two = json(&program, &["audit", "tail", "-n", "2"], 0);
    let kinds: Vec<_> =
        two["records"].as_array().unwrap().iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["intent", "outcome"]);
    check_code(&program.run(&["audit", "tail", "-n", "0"]), 2);
}

#[test]
fn a_record_has_every_field_of_its_shape() {
    let program = used();
    let shown = json(&program, &["audit", "show", "--correlation", "why-1"], 0);
    let records = shown["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    for field in [
        "seq",
        "time",
        "kind",
        "callId",
        "correlationId",
        "actor",
        "action",
        "tool",
        "policyHash",
        "risk",
        "arguments",
        "outcome",
        "usage",
        "approval",
        "backend",
        "prev",
        "hash",
    ] {
        assert!(records[0].get(field).is_some(), "{field}");
    }
    let call = records[0]["callId"].as_str().unwrap();
    assert_eq!(json(&program, &["audit", "show", call], 0), shown, "a call by its id");
    let seq = records[1]["seq"].to_string();
    assert_eq!(
        json(&program, &["audit", "show", &seq], 0)["records"][0],
        records[1],
        "a record by its number"
    );
    let run = program.run(&["audit", "show", &seq]);
    for line in
        ["action        tool.call", "correlationId why-1", "actor         client: cli", "tool          id: "]
    {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
}

#[test]
fn what_is_not_on_the_record_is_not_found() {
    let program = used();
    for arguments in [
        &["audit", "show", "999"][..],
        &["audit", "show", "nothing"],
        &["audit", "show", "--correlation", "nothing"],
        &["audit", "show"],
        &["audit", "show", "1", "--correlation", "x"],
    ] {
        check_code(&program.run(arguments), 2);
    }
}

#[test]
fn the_chain_is_proven_and_its_key_told() {
    let program = used();
    let run = program.run(&["audit", "verify"]);
    check_code(&run, 0);
    assert!(run.stdout.starts_with("whole: proven to 6, 0 not yet signed\nkey           "), "{}", run.stdout);
    let proven = json(&program, &["audit", "verify"], 0);
    assert_eq!(
        (&proven["ok"], &proven["provenTo"], &proven["firstBad"]),
        (&true.into(), &6.into(), &Value::Null)
    );
    assert_eq!(proven["key"].as_str().map(str::len), Some(64));
}

#[test]
fn an_export_is_proven_by_its_key_alone() {
    let program = used();
    let key = json(&program, &["audit", "verify"], 0)["key"].as_str().unwrap_or_default().to_owned();
    check_code(&program.run(&["audit", "export", "--to", "out/record.ndjson"]), 0);
    let verify = |key: &str| program.run(&["audit", "verify", "out/record.ndjson", "--key", key]);
    check_code(&verify(&key), 0);
    let run = verify(&"0".repeat(64));
    check_code(&run, 1);
    assert!(run.stdout.starts_with("broken: "), "{}", run.stdout);
    check_code(&verify("00"), 2);
    check_code(&program.run(&["audit", "verify", "out/record.ndjson"]), 2);
    let printed = program.run(&["audit", "export"]).stdout;
    let changed = program.with_file("out/record.ndjson", &printed.replacen("why-1", "why-2", 1));
    let run = changed.run(&["audit", "verify", "out/record.ndjson", "--key", &key]);
    check_code(&run, 1);
    assert!(run.stdout.contains("record 5 was changed"), "{}", run.stdout);
    let cut = changed.with_file("out/record.ndjson", "nonsense\n");
    check_code(&cut.run(&["audit", "verify", "out/record.ndjson", "--key", &key]), 2);
}

#[test]
fn a_record_that_is_gone_is_missed() {
    let program = used();
    let data = program.home().join(".local/share/bailiwick");
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        // Which of them there are is the store's business.
        let _absent = std::fs::remove_file(data.join(file));
    }
    let run = program.run(&["audit", "verify"]);
    check_code(&run, 1);
    assert!(run.stdout.starts_with("broken: records 1 to 6 are gone"), "{}", run.stdout);
    assert_eq!(json(&program, &["audit", "verify"], 1)["ok"], false);
}

#[test]
fn an_export_begins_where_it_is_told_and_has_every_record() {
    let program = used();
    let all = program.run(&["audit", "export"]).stdout;
    let records = |text: &str| -> Vec<u64> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["seq"].as_u64()).collect()
    };
    assert_eq!(records(&all), [1, 2, 3, 4, 5, 6]);
    assert!(all.lines().any(|line| line.starts_with("{\"head\":")), "{all}");
    assert_eq!(records(&program.run(&["audit", "export", "--from", "5"]).stdout), [5, 6]);
}

#[test]
fn retention_leaves_a_record_that_is_still_proven() {
    let program = used();
    check_code(&program.run(&["audit", "retain"]), 2);
    let removed = json(&program, &["audit", "retain", "--records", "2", "--yes"], 0);
    assert!(removed["removed"].as_u64().is_some_and(|removed| removed > 0), "{removed}");
    let run = program.run(&["audit", "verify"]);
    check_code(&run, 0);
    assert!(run.stdout.contains("removed by retention"), "{}", run.stdout);
}

#[test]
fn following_shows_what_comes_until_ctrl_c() {
    let program = used();
    let running = program.start(&["audit", "tail", "--follow", "-n", "1"]);
    running.wait_for("tool.call");
    check_code(&program.run(&["tool", "unpublish", "one"]), 0);
    running.wait_for("tool.unpublish");
    running.interrupt();
    let (code, text) = running.end();
    assert_eq!(code, Some(0), "{text}");
}
