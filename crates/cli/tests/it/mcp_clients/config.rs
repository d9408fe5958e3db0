//! What `mcp config` prints.

use insta::assert_snapshot;
use serde_json::Value;

use super::super::serving::Serving;
use super::{CLIENTS, bailiwick, check, steady};

/// Everything that is printed for one client.
fn printed(client: &str) -> String {
    let program = bailiwick();
    let ways: &[&[&str]] = &[
        &[],
        &["--project", "--data", "/srv/data"],
        &["--http"],
        &["--http", "--key-env"],
        &["--http", "https://tools.example", "--name", "theirs"],
    ];
    let printed = |way: &&[&str]| {
        let run = program.run(&[&["mcp", "config", client], *way].concat());
        let typed =
            ["bailiwick mcp config", client].iter().chain(*way).copied().collect::<Vec<_>>().join(" ");
        format!("$ {typed}\n{}{}exit {}\n\n", run.stdout, run.stderr, run.code.unwrap_or(-1))
    };
    let all: String = ways.iter().map(printed).collect();
    steady(&all)
}

#[test]
fn each_client_gets_what_it_reads() {
    for known in CLIENTS {
        assert_snapshot!(format!("mcp_config_{}", known.client), printed(known.client));
    }
}

#[test]
fn stdout_holds_the_entry_and_nothing_else() {
    for known in CLIENTS {
        let program = bailiwick();
        let run = program.run(&["mcp", "config", known.client]);
        check(&run, 0, "", &format!("it belongs into [MACHINE]/home/{}", known.file));
        let quiet = program.run(&["mcp", "config", known.client, "-q"]);
        assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), (run.stdout.as_str(), ""));
        let json = program.run(&["mcp", "config", known.client, "--json"]);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["client"], known.client);
        assert_eq!(json["snippet"], run.stdout.as_str());
        assert_eq!(json["file"], format!("[MACHINE]/home/{}", known.file));
        let is_toml = known.client == "codex";
        assert_eq!(json["format"], if is_toml { "toml" } else { "json" });
        let read = if is_toml {
            toml::from_str::<toml::Table>(&run.stdout).is_ok()
        } else {
            serde_json::from_str::<Value>(&run.stdout).is_ok()
        };
        assert!(read, "{}", run.stdout);
    }
}

/// The arguments that a client is told to start this program with.
#[track_caller]
fn arguments(program: &bailiwick_testkit::Program, more: &[&str]) -> String {
    let run = program.run(&[&["mcp", "config", "cursor", "-q"], more].concat());
    check(&run, 0, "", "");
    let entry: Value = serde_json::from_str(&run.stdout).unwrap();
    entry["mcpServers"]["bailiwick"]["args"].to_string()
}

#[test]
fn the_client_is_told_what_its_environment_would_not_say() {
    let program = bailiwick();
    assert_eq!(arguments(&program, &[]), r#"["mcp"]"#);
    assert_eq!(arguments(&program, &["--data", "d"]), r#"["mcp","--data","[MACHINE]/work/d"]"#);
    let moved = bailiwick().with_variable("BAILIWICK_DATA", "/srv/d");
    assert_eq!(arguments(&moved, &[]), r#"["mcp","--data","/srv/d"]"#);
    let moved = bailiwick().with_variable("XDG_DATA_HOME", "/srv");
    assert_eq!(arguments(&moved, &[]), r#"["mcp","--data","/srv/bailiwick"]"#);
    let program = bailiwick().with_file("b.toml", "").with_variable("BAILIWICK_LIMITS_WALL", "3s");
    assert_eq!(
        arguments(&program, &["--config", "b.toml", "--set", "limits.wall=2s"]),
        r#"["mcp","--config","[MACHINE]/work/b.toml","--set","limits.wall=2s"]"#
    );
    check(&program.run(&["mcp", "config", "cursor"]), 0, "", "may not hand on BAILIWICK_LIMITS_WALL");
}

#[test]
fn the_clients_own_variables_move_their_files() {
    for (client, variable, file) in
        [("codex", "CODEX_HOME", "/x/config.toml"), ("claude-code", "CLAUDE_CONFIG_DIR", "/x/.claude.json")]
    {
        let run = bailiwick().with_variable(variable, "/x").run(&["mcp", "config", client]);
        check(&run, 0, "", &format!("it belongs into {file},"));
    }
    let run = bailiwick().with_variable("XDG_CONFIG_HOME", "/x").run(&["mcp", "config", "vscode"]);
    check(&run, 0, "", "it belongs into /x/Code/User/mcp.json,");
}

#[test]
fn the_address_is_that_of_the_running_server() {
    let program = bailiwick();
    let serving = Serving::start(&program, &[]);
    let address = format!("\"url\": \"{}/mcp\"", serving.address());
    check(&program.run(&["mcp", "config", "cursor", "--http"]), 0, &address, "");
    serving.end();
    let usual = "\"url\": \"http://127.0.0.1:8282/mcp\"";
    check(&program.run(&["mcp", "config", "cursor", "--http"]), 0, usual, "");
    let set = ["mcp", "config", "cursor", "--http", "--set", "server.listen=0.0.0.0:99"];
    check(&program.run(&set), 0, "\"url\": \"http://127.0.0.1:99/mcp\"", "");
    let path = ["mcp", "config", "cursor", "--http", "http://localhost:1/behind/mcp"];
    check(&program.run(&path), 0, "\"url\": \"http://localhost:1/behind/mcp\"", "");
    // Nothing that a client would put something else in the place of.
    let path = ["mcp", "config", "cursor", "--http", "http://localhost:1/${HOME}"];
    check(&program.run(&path), 0, "\"url\": \"http://localhost:1/$%7BHOME%7D\"", "");
}

#[test]
fn a_key_is_asked_for_where_nobody_is_let_in_without_one() {
    let program = bailiwick();
    let run = program.run(&["mcp", "config", "cursor", "--http"]);
    assert!(!run.stdout.contains("Authorization"), "{run:?}");
    let keyless = ["mcp", "config", "cursor", "--http", "--set", "server.keyless=false"];
    check(&program.run(&keyless), 0, "Bearer ${env:BAILIWICK_KEY}", "key create NAME --scope call");
}

#[test]
fn a_key_never_gets_into_a_clients_file() {
    let key = "bwk_3f9a7c1e5b2d4086_Zm9vYmFyYmF6cXV4cXV1eA";
    let program = bailiwick()
        .with_file("key", key)
        .with_variable("BAILIWICK_KEY", key)
        .with_variable("BAILIWICK_KEY_FILE", "key");
    for known in CLIENTS {
        for more in
            [&["--http"][..], &["--http", "--key-env"], &["--http", "--key-env", key], &["--key-file", "key"]]
        {
            let run = program.run(&[&["mcp", "config", known.client], more].concat());
            assert!(!run.stdout.contains(key) && !run.stderr.contains(key), "{more:?}: {run:?}");
            if more.contains(&"--key-file") || more.contains(&key) {
                assert_eq!(run.code, Some(2), "{run:?}");
            }
        }
    }
}

#[track_caller]
fn check_refused(arguments: &[&str], stderr: &str) {
    let run = bailiwick().run(&[&["mcp", "config"], arguments].concat());
    check(&run, 2, "", stderr);
    assert!(run.stdout.is_empty(), "{run:?}");
}

#[test]
fn what_no_client_could_use_is_refused() {
    check_refused(&["emacs"], "invalid value 'emacs'");
    check_refused(&["claude-desktop", "--http"], "takes programs only");
    check_refused(&["claude-desktop", "--project"], "no file for one folder");
    check_refused(&["cursor", "--name", "a b"], "not a name that every client takes");
    check_refused(&["cursor", "--name", "-x"], "unexpected argument");
    check_refused(&["cursor", "--name", ""], "not a name that every client takes");
    check_refused(&["cursor", "--http", "http://tools.example"], "a key in the clear");
    check_refused(&["cursor", "--http", "https://me:secret@tools.example"], "no user name and no password");
    check_refused(&["cursor", "--http", "ftp://tools.example"], "is not the address of a server");
    check_refused(&["cursor", "--http", "https://${HOME}/mcp"], "is not an address as it is");
    check_refused(&["cursor", "--key-env"], "--http");
    check_refused(&["cursor", "--http", "--key-env", "1A"], "not the name of a variable");
    check_refused(&["vscode", "--http", "--key-env", "A"], "VS Code puts no variable into a header");
    check_refused(&["cursor", "--data", "${HOME}/x"], "cannot stand in a client's file");
    check_refused(&["cursor", "--server", "https://x.test"], "works on this machine only");
    check_refused(&["cursor", "--file", "x", "--project"], "cannot be used with");
}
