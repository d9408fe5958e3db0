//! `config show` and `trust`, as an operator meets them.

use insta::assert_snapshot;

use super::bailiwick;

const USER_FILE: &str = ".config/bailiwick/bailiwick.toml";

#[test]
fn config_show_says_where_each_value_came_from() {
    let program = bailiwick()
        .with_home_file(
            USER_FILE,
            "[limits]\nwall = \"2s\"\n\n[policy.hosts]\nnever = [\"*.corp.example\"]\n",
        )
        .with_file("bailiwick.toml", "[limits]\ncpu = \"1s\"\n")
        .with_variable("BAILIWICK_CEILINGS_RISK", "L3");
    let run = program.run(&["config", "show", "--origin", "--set", "limits.fetches=3"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let changed: String =
        run.stdout.lines().filter(|line| !line.ends_with("built-in")).collect::<Vec<_>>().join("\n");
    assert_snapshot!(changed);
    let run = program.run(&["config", "show", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["settings"]["limits.cpu"]["value"], "1s");
    assert_eq!(json["settings"]["fs.mounts"]["waitsFor"], serde_json::Value::Null);
}

#[test]
fn config_show_defaults_prints_a_file_that_can_be_used() {
    let defaults = bailiwick().run(&["config", "show", "--defaults"]).stdout;
    let run = bailiwick().with_home_file(USER_FILE, &defaults).run(&["config", "show"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout, bailiwick().run(&["config", "show"]).stdout);
}

#[test]
fn an_unknown_key_is_an_error_with_its_line() {
    let run = bailiwick().with_home_file(USER_FILE, "[limits]\nwal = \"2s\"\n").run(&["limits"]);
    assert_eq!(run.code, Some(2));
    assert_snapshot!(run.stderr, @r"
    error: unknown key `limits.wal`
      --> [MACHINE]/home/.config/bailiwick/bailiwick.toml:2:1  limits.wal
      hint: did you mean `wall`?
    ");
}

#[test]
fn a_folder_widens_only_once_it_is_trusted_and_only_as_it_was() {
    let program = bailiwick().with_file("bailiwick.toml", "[policy]\nnetwork = \"open\"\n");
    let mode = |program: &bailiwick_testkit::Program| {
        let run = program.run(&["policy", "show", "--json"]);
        (run.code, serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["network"]["mode"].clone())
    };
    let run = program.run(&["policy", "show"]);
    assert_eq!(run.code, Some(2));
    assert_snapshot!(run.stderr, @r"
    error: `policy.network` would widen what the operator set; a folder's own file may only narrow
      --> [MACHINE]/work/bailiwick.toml:2:11  policy.network
      hint: read the file, and if you mean it: bailiwick trust [MACHINE]/work/bailiwick.toml
    ");
    let run = program.run(&["trust", "bailiwick.toml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(mode(&program), (Some(0), "open".into()));
    assert!(program.run(&["trust", "--list"]).stdout.contains("/work/bailiwick.toml"));
    let program = program.with_file("bailiwick.toml", "[policy]\nnetwork = \"open\" \n");
    assert_eq!(program.run(&["policy", "show"]).code, Some(2), "an edit ends the trust");
    let program = program.with_file("bailiwick.toml", "[policy]\nnetwork = \"open\"\n");
    assert_eq!(mode(&program), (Some(0), "open".into()));
    assert_eq!(program.run(&["trust", "--forget", "bailiwick.toml"]).code, Some(0));
    assert_eq!(program.run(&["policy", "show"]).code, Some(2));
}

#[test]
fn trust_does_not_depend_on_where_data_lives() {
    let program =
        bailiwick().with_file("bailiwick.toml", "[limits]\nwall = \"6s\"\n").with_file("op.toml", "");
    let run = program.run(&["--data", "data", "--config", "op.toml", "trust", "bailiwick.toml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(program.run(&["--data", "elsewhere", "limits"]).code, Some(0));
    // A record that came with the folder counts for nothing.
    let hash = program.run(&["trust", "--list", "--json"]).stdout;
    assert!(hash.contains("sha256"), "{hash}");
    let stranger = bailiwick()
        .with_file("bailiwick.toml", "[limits]\nwall = \"6s\"\n")
        .with_file(".data/trusted", "00  /work/bailiwick.toml\n");
    assert_eq!(stranger.run(&["--data", ".data", "limits"]).code, Some(2));
}

#[test]
fn a_file_where_guests_write_cannot_be_trusted() {
    let program = bailiwick().with_home_file(".local/share/bailiwick/workspaces/t/bailiwick.toml", "");
    let file = program.home().join(".local/share/bailiwick/workspaces/t/bailiwick.toml");
    let run = program.run(&["trust", &file.display().to_string()]);
    assert!(run.code == Some(2) && run.stderr.contains("will never be read as configuration"), "{run:?}");
    // Nor is trust recorded where guests write: it would not be looked at.
    let program = bailiwick().with_file("bailiwick.toml", "[limits]\nwall = \"6s\"\n");
    let around = program.home().join(".config").display().to_string();
    assert_eq!(program.run(&["--data", &around, "trust", "bailiwick.toml"]).code, Some(2));
    assert_eq!(program.run(&["--data", &around, "limits"]).code, Some(2));
}

#[test]
fn the_defaults_can_be_had_when_the_settings_are_broken() {
    let program = bailiwick().with_home_file(USER_FILE, "nonsense");
    assert_eq!(program.run(&["config", "show", "--defaults"]).code, Some(0));
    let run = program.run(&["config", "show", "--defaults", "--json"]);
    assert!(run.code == Some(0) && run.stdout.contains("\"defaults\""), "{run:?}");
}

#[test]
fn only_a_folders_own_file_can_be_trusted() {
    let program = bailiwick().with_file("other.toml", "");
    let run = program.run(&["trust", "other.toml"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("must be named bailiwick.toml"), "{}", run.stderr);
    assert_eq!(program.run(&["trust", "missing/bailiwick.toml"]).code, Some(2));
    assert_eq!(program.run(&["trust"]).code, Some(2));
}

#[test]
fn keys_that_are_in_use_bring_no_note() {
    let file = "[fs]\nmounts = [\"/srv/code\"]\n[sandbox]\nmost = 3\n";
    let run = bailiwick().with_home_file(USER_FILE, file).run(&["limits"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn without_a_home_the_program_still_answers() {
    let program = bailiwick().with_variable("HOME", "");
    assert_eq!(program.run(&["limits"]).code, Some(0));
    let run = program.run(&["trust", "--list"]);
    assert!(run.code == Some(2) && run.stderr.contains("there is no configuration folder"), "{run:?}");
}
