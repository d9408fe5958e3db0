//! Files of clients before and after, byte by byte.

use serde_json::{Value, json};

use super::{Change, EditError, Edited, Format, edit};

const JSON: Format = Format::Json("mcpServers");
const TOML: Format = Format::Toml("mcp_servers");

fn entry() -> Value {
    json!({"command": "/b", "args": ["mcp"]})
}

fn put(entry: &Value) -> Change<'_> {
    Change::Put { entry, input: None, replace: false }
}

#[track_caller]
fn check_put(format: Format, before: &str, after: &str) {
    let entry = entry();
    let edited = edit(Some(before), format, "b", put(&entry));
    assert_eq!(edited, Ok(Edited::Text(after.to_owned())));
    // Once more, it is there already.
    assert_eq!(edit(Some(after), format, "b", put(&entry)), Ok(Edited::Same));
}

/// Taken out again, the text is the one before.
#[track_caller]
fn check_there_and_back(format: Format, before: &str) {
    let entry = entry();
    let Ok(Edited::Text(with)) = edit(Some(before), format, "b", put(&entry)) else { panic!("{before}") };
    let without = edit(Some(&with), format, "b", Change::Take { input: "b-key" });
    assert_eq!(without, Ok(Edited::Text(before.to_owned())), "{with}");
}

#[track_caller]
fn check_refused(format: Format, text: &str, is_meant: impl Fn(&EditError) -> bool) {
    let entry = entry();
    for change in [put(&entry), Change::Take { input: "b-key" }] {
        let edited = edit(Some(text), format, "b", change);
        assert!(matches!(&edited, Err(error) if is_meant(error)), "{text}: {edited:?}");
    }
}

#[test]
fn an_entry_is_put_in_the_way_the_rest_is_laid_out() {
    let whole = "{\n  \"mcpServers\": {\n    \"b\": {\n      \"command\": \"/b\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n";
    for empty in ["", " \n", "{}\n"] {
        check_put(JSON, empty, whole);
    }
    check_put(
        JSON,
        "{\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t},\n\t\"a\": [1,  2]\n}",
        "{\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t\t\"b\": {\n\t\t\t\"command\": \"/b\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t},\n\t\"a\": [1,  2]\n}",
    );
    check_put(
        JSON,
        "{\r\n    \"mcpServers\": {}\r\n}\r\n",
        "{\r\n    \"mcpServers\": {\r\n        \"b\": {\r\n            \"command\": \"/b\",\r\n            \"args\": [\r\n                \"mcp\"\r\n            ]\r\n        }\r\n    }\r\n}\r\n",
    );
    check_put(
        JSON,
        r#"{"x":"}\"{","mcpServers":{"a":{"n":[{}]}}}"#,
        r#"{"x":"}\"{","mcpServers":{"a":{"n":[{}]},"b":{"command":"/b","args":["mcp"]}}}"#,
    );
    check_put(JSON, r#"{"x": 1}"#, r#"{"x": 1, "mcpServers": {"b":{"command":"/b","args":["mcp"]}}}"#);
}

#[test]
fn toml_keeps_its_comments_and_its_order() {
    let entry = "[mcp_servers.b]\ncommand = \"/b\"\nargs = [\"mcp\"]\n";
    check_put(TOML, "", entry);
    check_put(TOML, "model = \"x\" # mine\n", &format!("model = \"x\" # mine\n\n{entry}"));
    check_put(
        TOML,
        "# top\n[mcp_servers.a] # a\ncommand = 'a'\n\n# about the rest\n[rest]\nx  =  1\n",
        &format!("# top\n[mcp_servers.a] # a\ncommand = 'a'\n\n{entry}\n# about the rest\n[rest]\nx  =  1\n"),
    );
    check_put(
        TOML,
        "mcp_servers = { a = { command = \"a\" } }\n",
        "mcp_servers = { a = { command = \"a\" } , b = { command = \"/b\", args = [\"mcp\"] } }\n",
    );
}

#[test]
fn what_was_put_can_be_taken_out_again() {
    for text in [
        "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n",
        "{\n  \"mcpServers\": {}\n}\n",
        "{\"mcpServers\":{\"a\":1},\"x\":[]}",
        "{\r\n\t\"mcpServers\": { \"a\": {} }\r\n}",
    ] {
        check_there_and_back(JSON, text);
    }
    for text in ["x = 1\n", "# c\n[mcp_servers.a]\ncommand = 'a'\n# d\n[z]\n", "[mcp_servers]\n[z]\nx = 1\n"]
    {
        check_there_and_back(TOML, text);
    }
    // In front of others, it leaves them as they are.
    let text = "{\"mcpServers\": {\n  \"b\": {},\n  \"c\": 1\n}}";
    let taken = edit(Some(text), JSON, "b", Change::Take { input: "b-key" });
    assert_eq!(taken, Ok(Edited::Text("{\"mcpServers\": {\n  \"c\": 1\n}}".to_owned())));
    for (format, text) in [(JSON, "{}"), (JSON, ""), (TOML, ""), (TOML, "[mcp_servers.a]\n")] {
        assert_eq!(edit(Some(text), format, "b", Change::Take { input: "b-key" }), Ok(Edited::Same));
    }
}

#[test]
fn another_entry_of_the_name_goes_only_when_that_was_said() {
    for (format, before, after) in [
        (
            JSON,
            "{\"mcpServers\": {\"b\": {\"url\": \"x\"}, \"c\": 1}}",
            "{\"mcpServers\": {\"b\": {\"command\":\"/b\",\"args\":[\"mcp\"]}, \"c\": 1}}",
        ),
        (
            TOML,
            "# ours\n[mcp_servers.b]\nurl = 'x'\n[mcp_servers.b.env]\nA = '1'\n\n[z]\n",
            "# ours\n[mcp_servers.b]\ncommand = \"/b\"\nargs = [\"mcp\"]\n\n[z]\n",
        ),
    ] {
        let entry = entry();
        let refused = edit(Some(before), format, "b", put(&entry));
        assert_eq!(refused, Err(EditError::Different { name: "b".to_owned() }));
        let change = Change::Put { entry: &entry, input: None, replace: true };
        assert_eq!(edit(Some(before), format, "b", change), Ok(Edited::Text(after.to_owned())));
    }
}

#[test]
fn what_vs_code_asks_for_comes_and_goes_with_the_entry() {
    let (entry, input) = (json!({"url": "u"}), json!({"id": "b-key"}));
    let change = Change::Put { entry: &entry, input: Some(&input), replace: false };
    let before = "{\"inputs\":[{\"id\":\"x\"}],\"servers\":{\"a\":{}}}";
    let after =
        "{\"inputs\":[{\"id\":\"x\"},{\"id\":\"b-key\"}],\"servers\":{\"a\":{},\"b\":{\"url\":\"u\"}}}";
    let format = Format::Json("servers");
    assert_eq!(edit(Some(before), format, "b", change), Ok(Edited::Text(after.to_owned())));
    assert_eq!(edit(Some(after), format, "b", change), Ok(Edited::Same));
    let taken = edit(Some(after), format, "b", Change::Take { input: "b-key" });
    assert_eq!(taken, Ok(Edited::Text(before.to_owned())));
    // One that a person has changed stays as it is.
    let theirs = "{\"inputs\":[{\"id\":\"b-key\",\"d\":1}],\"servers\":{\"b\":{\"url\":\"u\"}}}";
    assert_eq!(edit(Some(theirs), format, "b", change), Ok(Edited::Same));
    let wrong = edit(Some("{\"inputs\":{}}"), format, "b", change);
    assert!(matches!(wrong, Err(EditError::Shape { .. })), "{wrong:?}");
}

#[test]
fn what_is_not_plain_is_left_alone() {
    let is_not_plain = |error: &EditError| matches!(error, EditError::NotPlain { .. });
    for text in [
        "{\n  // comment\n  \"mcpServers\": {}\n}",
        "{\"mcpServers\": {},}",
        "{\"mcpServers\": {\"a\": {}, } }",
        "/* */ {}",
        "\u{feff}{}",
        "{",
        "{}{}",
        "{'mcpServers': {}}",
        "nonsense",
    ] {
        check_refused(JSON, text, is_not_plain);
    }
    for text in ["x = ", "[a]\n[a]\n", "[mcp_servers.b]\n[mcp_servers.b]\n", "{}"] {
        check_refused(TOML, text, is_not_plain);
    }
    let is_shape = |error: &EditError| matches!(error, EditError::Shape { .. });
    for text in ["[]", "1", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
        check_refused(JSON, text, is_shape);
    }
    for text in ["mcp_servers = 1\n", "[[mcp_servers]]\n"] {
        check_refused(TOML, text, is_shape);
    }
    let is_twice = |error: &EditError| matches!(error, EditError::Twice { .. });
    check_refused(JSON, "{\"mcpServers\": {\"b\": 1}, \"mcpServers\": {\"b\": 2}}", |error| {
        is_twice(error) || matches!(error, EditError::Different { .. })
    });
    let entry = entry();
    let hidden = edit(Some("{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}"), JSON, "b", put(&entry));
    assert!(matches!(&hidden, Err(error) if is_twice(error)), "{hidden:?}");
}

#[test]
fn the_reason_for_leaving_a_file_alone_shows_nothing_of_it() {
    for (format, text) in [(JSON, "{\"token\": s3cret}"), (TOML, "token = s3cret\n"), (TOML, "s3cret\n")] {
        let entry = entry();
        let refused = edit(Some(text), format, "b", put(&entry)).unwrap_err().to_string();
        assert!(!refused.contains("s3cret") && refused.contains("line 1"), "{refused}");
    }
}

#[test]
fn a_deep_file_does_not_overflow() {
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check_refused(JSON, &deep, |error| matches!(error, EditError::NotPlain { .. }));
    let deep = format!("x = {}{}\n", "[".repeat(10_000), "]".repeat(10_000));
    check_refused(TOML, &deep, |error| matches!(error, EditError::NotPlain { .. }));
}
