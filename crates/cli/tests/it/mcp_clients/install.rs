//! What `mcp install` writes, keeps and takes out again.

use serde_json::Value;

use super::{CLIENTS, Known, bailiwick, check, everything, kept, mode, text, with_home};

/// The entry in a client's file, as JSON.
fn entry(known: &Known, text: &str) -> Value {
    let whole: Value = match known.client {
        "codex" => serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap(),
        _ => serde_json::from_str(text).unwrap(),
    };
    let servers = ["mcpServers", "servers", "mcp_servers"].iter().find_map(|key| whole.get(key));
    servers.and_then(|servers| servers.get("bailiwick")).cloned().unwrap_or_default()
}

#[test]
fn a_client_without_a_file_gets_one() {
    for known in CLIENTS {
        let program = bailiwick();
        let file = program.home().join(known.file);
        let run = program.run(&["mcp", "install", known.client, "--yes"]);
        check(&run, 0, "added  bailiwick", "which is not there yet");
        assert_eq!(text(&file), program.run(&["mcp", "config", known.client, "-q"]).stdout);
        let command = entry(known, &text(&file))["command"].as_str().unwrap().to_owned();
        assert!(std::path::Path::new(&command).is_file(), "{command}");
        assert_eq!((mode(&file), kept(&file).len()), (0o600, 0));
    }
}

#[test]
fn everything_else_stays_as_it_is_and_what_was_there_is_kept() {
    for known in CLIENTS {
        let program = with_home(known.file, known.before);
        let file = program.home().join(known.file);
        let before_mode = mode(&file);
        let run = program.run(&["mcp", "install", known.client, "--yes"]);
        check(&run, 0, "added  bailiwick", "what was there before is kept in");
        // What came is shown, and nothing of what stands beside it.
        assert!(run.stderr.contains("+ ") && !run.stderr.contains(" - "), "{}: {run:?}", known.client);
        assert!(!run.stdout.contains("s3cret") && !run.stderr.contains("s3cret"), "{run:?}");
        let after = text(&file);
        assert!(entry(known, &after)["args"].to_string().contains("mcp"), "{after}");
        // Without the lines that came, it is the text from before.
        let mut lines = after.lines();
        let is_kept = |line: &str| {
            lines.any(|now| now == line || now.strip_suffix(',') == Some(line))
                || !known.before.contains('\n')
        };
        assert!(known.before.lines().all(is_kept), "{}\n{after}", known.client);
        assert_eq!(mode(&file), before_mode);
        let copies = kept(&file);
        assert_eq!(copies.len(), 1);
        assert_eq!((text(&copies[0]).as_str(), mode(&copies[0])), (known.before, 0o600));

        // A second time there is nothing to do.
        let all = everything(&program.home());
        check(&program.run(&["mcp", "install", known.client]), 0, "already there  bailiwick", "");
        assert_eq!(everything(&program.home()), all);

        let run = program.run(&["mcp", "install", known.client, "--remove", "--yes"]);
        check(&run, 0, "removed  bailiwick", "what was there before is kept in");
        assert_eq!(text(&file), known.before, "{}", known.client);
        assert_eq!(kept(&file).len(), 2);
        check(&program.run(&["mcp", "install", known.client, "--remove"]), 0, "not there  bailiwick", "");
    }
}

#[test]
fn another_entry_of_the_name_is_written_over_only_when_that_was_typed() {
    for known in CLIENTS {
        let program = with_home(known.file, known.before);
        let file = program.home().join(known.file);
        let install =
            |more: &[&str]| program.run(&[&["mcp", "install", known.client, "--yes"], more].concat());
        check(&install(&["--data", "/one"]), 0, "added", "");
        let (first, all) = (text(&file), everything(&program.home()));
        check(&install(&["--data", "/two"]), 2, "", "--replace writes over it");
        assert_eq!(everything(&program.home()), all);
        check(&install(&["--data", "/two", "--name", "second"]), 0, "added  second", "");
        check(&install(&["--data", "/two", "--replace"]), 0, "written  bailiwick", "");
        let after = text(&file);
        assert!(after.contains("/two") && !after.contains("/one") && first.contains("/one"), "{after}");
    }
}

#[test]
fn over_http_the_key_is_a_reference() {
    for known in CLIENTS.iter().filter(|known| known.client != "claude-desktop") {
        let program = with_home(known.file, known.before);
        let file = program.home().join(known.file);
        let install = ["mcp", "install", known.client, "--http", "--key-env", "--yes"];
        check(&program.run(&install), 0, "added  bailiwick", "key create NAME --scope call");
        let after = text(&file);
        let reference = if known.client == "vscode" { "${input:bailiwick-key}" } else { "BAILIWICK_KEY" };
        assert!(after.contains(reference), "{after}");
        check(&program.run(&install), 0, "already there", "");
        check(&program.run(&["mcp", "install", known.client, "--remove", "--yes"]), 0, "removed", "");
        let left = text(&file);
        assert!(!left.contains(reference), "{left}");
    }
}

#[test]
fn a_folder_gets_an_entry_of_its_own() {
    for known in CLIENTS {
        let Some(name) = known.projects else { continue };
        let program = bailiwick();
        let run = program.run(&["mcp", "install", known.client, "--project", "--yes"]);
        check(&run, 0, "added  bailiwick", "a path of this machine");
        assert!(!entry(known, &text(&program.working_folder().join(name))).is_null());
        assert!(!program.home().join(known.file).exists());
    }
}

#[test]
fn machines_get_one_object() {
    let program = with_home(".cursor/mcp.json", "{}");
    let run = program.run(&["mcp", "install", "cursor", "--yes", "--json"]);
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &said["change"], &said["client"]), (Some(0), &"added".into(), &"cursor".into()));
    assert!(said["backup"].as_str().unwrap().contains("mcp.json.bailiwick-backup-2"), "{said}");
    let run = program.run(&["mcp", "install", "cursor", "--json", "--data", "/x"]);
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &said["error"]["code"]), (Some(2), &"INVALID_INPUT".into()));
}
