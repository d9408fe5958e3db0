//! Settings from files, variables and flags, and what a hostile folder can do about them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use bailiwick_document::{Bounds, Format, parse};
use bailiwick_policy::{Baseline, Layer, resolve};
use bailiwick_types::{LimitKind, RiskLevel};

mod mcp;
mod sandbox;

use super::*;

/// A machine of its own for each test.
struct Machine {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let sub = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let environment = Environment {
            working_folder: sub("work"),
            system_folder: sub("etc"),
            home: Some(sub("home")),
            ..Environment::default()
        };
        Self { folder, environment }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        files::replace(&path, text, files::Readers::Owner).unwrap();
        path
    }

    fn user_file(&self, text: &str) -> PathBuf {
        self.file("home/.config/bailiwick/bailiwick.toml", text)
    }

    fn folder_file(&self, text: &str) -> PathBuf {
        self.file("work/bailiwick.toml", text)
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.environment, &Request::default())
    }
}

fn shown(loaded: &Loaded, key: &str) -> String {
    let setting = loaded.config.get(key).unwrap();
    format!("{} from {}", setting.value.to_json(), setting.origin)
}

#[track_caller]
fn check_refused(machine: &Machine, message: &str, hint: &str) {
    let error = machine.load().expect_err("must be refused");
    let (text, hints) = match &error {
        ConfigError::Document(problems) => (
            problems.to_string(),
            problems.list.iter().filter_map(|problem| problem.hint.clone()).collect::<Vec<_>>().join(";"),
        ),
        other => (other.to_string(), other.hint().unwrap_or_default()),
    };
    assert!(text.contains(message), "{text}");
    assert!(hints.contains(hint), "{text} / {hints}");
}

#[test]
fn the_shipped_file_says_what_the_program_does() {
    let loaded = Machine::new().load().unwrap();
    let (mine, shipped) = (&loaded.settings.baseline, Baseline::shipped());
    assert_eq!(mine.limits, shipped.limits);
    assert_eq!(mine.ceilings.limits, shipped.ceilings.limits);
    assert_eq!(mine.ceilings.risk, shipped.ceilings.risk);
    assert_eq!(mine.ceilings.networks, shipped.ceilings.networks);
    let powers =
        |baseline: &Baseline| resolve(&Arc::new(baseline.clone()), None, None).unwrap().powers_json();
    assert_eq!(powers(mine), powers(&shipped));
}

#[test]
fn the_shipped_file_explains_every_key() {
    let loaded = Machine::new().load().unwrap();
    let mut section = String::new();
    let mut explained = std::collections::BTreeMap::new();
    let mut above = String::new();
    for line in DEFAULT_FILE.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        } else if let Some((name, rest)) = line.split_once(" = ").filter(|_| !line.starts_with([' ', '#'])) {
            let comment = rest.split_once('#').map_or(above.clone(), |(_, comment)| comment.to_owned());
            explained.insert(format!("{section}.{name}"), comment);
            continue;
        }
        match line.strip_prefix('#') {
            Some(comment) => above.push_str(comment),
            None => above.clear(),
        }
    }
    for key in KEYS.iter() {
        let setting =
            loaded.config.get(&key.path).unwrap_or_else(|| panic!("{} has no shipped value", key.path));
        assert_eq!(setting.origin, Origin::BuiltIn);
        let comment =
            explained.get(&key.path).unwrap_or_else(|| panic!("{} is not in the shipped file", key.path));
        assert!(!comment.trim().is_empty(), "{} is not explained", key.path);
        if let Used::WaitsFor(part) = key.used {
            assert!(comment.contains(part), "{}: does not say that it waits for {part}", key.path);
        }
    }
}

#[test]
fn later_layers_win_and_every_value_knows_its_origin() {
    let mut machine = Machine::new();
    let system = machine.file("etc/bailiwick.toml", "[limits]\nwall = \"1s\"\ncpu = \"1s\"\nsteps = 7\n");
    let user = machine.user_file("[limits]\nwall = \"2s\"\ncpu = \"1500ms\"\n");
    machine.environment.variables.insert("BAILIWICK_LIMITS_WALL".into(), "3s".into());
    machine.environment.variables.insert("BAILIWICK_POLICY_HOSTS_NEVER".into(), "a.test, *.b.test".into());
    let request = Request { set: vec!["limits.wall=4s".into()], ..Request::default() };
    let loaded = load(&machine.environment, &request).unwrap();
    assert_eq!(shown(&loaded, "limits.wall"), "\"4s\" from --set");
    assert_eq!(shown(&loaded, "limits.cpu"), format!("\"1500ms\" from {}:3", user.display()));
    assert_eq!(shown(&loaded, "limits.steps"), format!("7 from {}:4", system.display()));
    assert_eq!(shown(&loaded, "limits.memory"), "\"64MiB\" from built-in");
    assert_eq!(
        shown(&loaded, "policy.hosts.never"),
        "[\"a.test\",\"*.b.test\"] from $BAILIWICK_POLICY_HOSTS_NEVER"
    );
    assert_eq!(loaded.settings.baseline.limits.get(LimitKind::Wall), 4_000);
    assert_eq!(loaded.settings.baseline.never.len(), 2);
}

#[test]
fn a_named_file_replaces_the_others_and_must_exist() {
    let machine = Machine::new();
    machine.user_file("[limits]\nwall = \"2s\"\n");
    let other = machine.file("other.toml", "[limits]\ncpu = \"1s\"\n");
    let request = |path: &Path| Request { config: Some(path.to_owned()), ..Request::default() };
    let loaded = load(&machine.environment, &request(&other)).unwrap();
    assert_eq!(shown(&loaded, "limits.wall"), "\"5s\" from built-in");
    assert_eq!(loaded.files, [other]);
    let missing = load(&machine.environment, &request(Path::new("/nowhere/x.toml")));
    assert!(matches!(missing, Err(ConfigError::Missing { .. })));
}

#[test]
fn unknown_keys_are_told_with_line_and_suggestion() {
    let machine = Machine::new();
    for (text, message, hint) in [
        ("[limits]\nwal = \"1s\"", ":2:1: unknown key `limits.wal`", "did you mean `wall`?"),
        ("[limit]\nwall = \"1s\"", ":1:2: unknown key `limit`", "did you mean `limits`?"),
        ("wall = \"1s\"", ":1:1: unknown key `wall`", "did you mean `limits.wall`?"),
        ("[policy.hosts]\nnevr = []", "unknown key `policy.hosts.nevr`", "did you mean `never`?"),
        ("[profiles.web]\nnetwrok = \"open\"", "unknown field `netwrok`", "did you mean `network`?"),
        ("[profiles.Web]\n", "is not a profile name", ""),
        ("[limits]\nwall = 5", "needs a unit", "5s"),
        ("[limits]\nwall = \"0s\"", "must not be zero", ""),
        ("[limits]\nmemory = \"1000GiB\"", "above the hard maximum", ""),
        ("[limits]\nwall = \"31s\"", "limits.wall of 31s", "raise the ceiling"),
        ("[policy]\nnetwork = \"opne\"", "cannot be `opne`", "did you mean `open`?"),
        ("[ceilings]\nrisk = \"L9\"", "is not a risk level", ""),
        ("[server]\nlisten = \"here\"", "must be an address and a port", "127.0.0.1:8282"),
        ("[server]\nlisten = \"127.0.0.1:0\"", "must be an address and a port", "127.0.0.1:8282"),
        ("\"policy.network\" = \"open\"", "unknown key `policy.network`", ""),
        (
            "[policy.hosts]\nreserved = [\"metadata.google.internal\"]",
            "is not an address",
            "169.254.169.254:80",
        ),
        (
            "[policy.hosts]\nnever = [{host = \"a.test\", methods = [\"GET\"]}]",
            "has no meaning here",
            "whole hosts",
        ),
        ("[profiles.x]\nextends = \"y\"\n[profiles.y]\nextends = \"x\"", "in a circle", ""),
        ("[profiles.x]\nextends = \"nope\"", "there is no profile `nope`", ""),
        ("[limits]\nwall = \"31s\"\ncpu = \"40s\"", "limits.cpu of 40s", "raise the ceiling"),
        ("[fs]\nreadRoots = [\"data\"]", "must be an absolute folder", "from `/` on"),
        ("[fs]\nsharedWorkspaces = [\"a.b\"]", "is not a workspace's name", "letters, digits"),
        ("[policy]\nallow = [\"consle\"]", "names no capability", "did you mean `console`?"),
        ("limits = 3", "must be a map of fields", ""),
        ("[limits\n", "not valid TOML", ""),
    ] {
        machine.user_file(text);
        check_refused(&machine, message, hint);
    }
}

#[test]
fn variables_and_flags_have_no_typos_either() {
    let mut machine = Machine::new();
    machine.environment.variables.insert("BAILIWICK_LIMIT_WALL".into(), "1s".into());
    check_refused(&machine, "BAILIWICK_LIMIT_WALL", "did you mean `BAILIWICK_LIMITS_WALL`?");
    machine.environment.variables.clear();
    machine.environment.variables.insert("BAILIWICK_LIMITS_WALL".into(), "soon".into());
    check_refused(&machine, "$BAILIWICK_LIMITS_WALL", "");
    machine.environment.variables.clear();
    for flag in ["limits.wal=1s", "limits.wall", "limits.wall=1 parsec"] {
        let request = Request { set: vec![flag.into()], ..Request::default() };
        assert!(load(&machine.environment, &request).is_err(), "{flag}");
    }
}

#[test]
fn every_key_has_a_variable_of_its_own() {
    let mut names: Vec<String> = KEYS.iter().map(Key::variable).collect();
    assert!(names.contains(&"BAILIWICK_APPROVALS_AUTO_FROM".to_owned()));
    names.sort();
    names.dedup();
    assert_eq!(names.len(), KEYS.len());
}

#[test]
fn a_folders_own_file_may_narrow() {
    let machine = Machine::new();
    machine.user_file("[policy]\nnetwork = \"strict\"\n[fs]\nreadRoots = [\"/srv/data\"]\n");
    let own = machine.folder_file(
        r#"
[limits]
wall = "1s"
[ceilings]
risk = "L3"
network = ["blocked", "allowlist"]
[policy]
network = "blocked"
allow = ["console"]
deny = ["crypto.*"]
hosts.never = ["evil.test"]
ask.net = "always"
[fs]
readRoots = []
[approvals]
autoFrom = "L1"
"#,
    );
    let loaded = machine.load().unwrap();
    assert_eq!(shown(&loaded, "limits.wall"), format!("\"1s\" from {}:3", own.display()));
    assert_eq!(loaded.settings.baseline.ceilings.risk, RiskLevel::L3);
    assert_eq!(loaded.settings.approvals.auto_from, RiskLevel::L1);
    let denied = loaded.config.get("policy.deny").unwrap().value.to_json();
    assert!(denied.as_array().unwrap().len() == 7, "what it denies is added to what was denied: {denied}");
}

#[test]
fn a_folders_own_file_may_not_widen_until_it_is_trusted() {
    let machine = Machine::new();
    for text in [
        "[limits]\nwall = \"6s\"",
        "[ceilings]\nwall = \"1h\"",
        "[policy]\nnetwork = \"allowlist\"",
        "[policy]\nallow = [\"timers\"]",
        "[policy.hosts]\nallow = [\"a.test\"]",
        "[policy.hosts]\nreserved = [\"169.254.169.254\"]",
        "[fs]\nreadRoots = [\"/\"]",
        "[fs]\nreadRoots = [\"/srv/data/part\"]",
        "[fs]\nmounts = [\"/home\"]",
        "[approvals]\nautoFrom = \"L5\"",
        "[approvals]\ndeadline = \"1h\"",
        "[secrets]\nenv = [\"AWS_SECRET_ACCESS_KEY\"]",
        "[approvals]\nelicitation = \"L5\"",
        "[mcp]\ntools = [\"run_javascript\"]",
        "[profiles.evil]\nnetwork = \"open\"",
        "[profiles.strict]\nlimits = { steps = 1 }",
    ] {
        machine.folder_file(text);
        check_refused(&machine, "the operator set", "bailiwick trust");
    }
    machine.folder_file("[server]\nlisten = \"0.0.0.0:8282\"");
    check_refused(&machine, "only the operator sets `server.listen`", "bailiwick trust");
    machine.folder_file("[approvals]\nnotify = [\"x\"]");
    check_refused(&machine, "only the operator sets `approvals.notify`", "bailiwick trust");
    // A folder below an opened one may be a link to anywhere.
    machine.user_file("[fs]\nreadRoots = [\"/srv/data\"]\nmounts = [\"/srv/code\"]\n");
    for text in ["[fs]\nreadRoots = [\"/srv/data/link\"]", "[fs]\nmounts = [\"/srv/code/link\"]"] {
        machine.folder_file(text);
        check_refused(&machine, "would widen", "bailiwick trust");
    }
    // What takes away a deny, or loosens an ask of the operator, widens too; emptying a list of denies adds nothing.
    machine.user_file("[policy.ask]\nnet = \"always\"\n");
    machine.folder_file("[policy.ask]\nnet = \"first\"");
    check_refused(&machine, "policy.ask.net", "bailiwick trust");
    machine.folder_file("[policy]\ndeny = []");
    let loaded = machine.load().unwrap();
    assert_eq!(loaded.config.get("policy.deny").unwrap().value.to_json().as_array().unwrap().len(), 6);
}

#[test]
fn what_a_folder_narrows_still_resolves_and_is_never_wider() {
    for (operator, folder) in [
        ("", "[policy]\ndeny = [\"console\"]"),
        ("", "[policy]\ndeny = [\"crypto.**\", \"parser.*\"]"),
        ("", "[ceilings]\nwall = \"1s\"\nsteps = 9"),
        ("[policy]\nnetwork = \"strict\"", "[ceilings]\nnetwork = [\"blocked\"]"),
        (
            "[policy]\nnetwork = \"allowlist\"\nhosts.allow = [\"a.test\", \"b.test\"]",
            "[policy.hosts]\nnever = [\"a.test\"]",
        ),
        ("[policy]\nnetwork = \"open\"", "[policy]\nnetwork = \"strict\"\nask.net = \"first\""),
        ("[policy]\nallow = [\"crypto.**\"]", "[policy]\ndeny = [\"crypto.hmac\"]"),
        ("[policy]\nnetwork = \"strict\"", "[policy]\ndeny = [\"net.fetch\"]"),
        ("[policy]\nnetwork = \"allowlist\"\nhosts.allow = [\"a.test\"]", "[policy]\ndeny = [\"net.fetch\"]"),
        ("[fs]\nreadRoots = [\"/srv/a\", \"/srv/b\"]", "[fs]\nreadRoots = [\"/srv/b\"]"),
    ] {
        let machine = Machine::new();
        machine.user_file(operator);
        // With files to read, so that a change of roots shows.
        let tree = parse("o", "fileRead: true", Format::Yaml, Bounds::WRITTEN_BY_HAND).unwrap();
        let tool = Arc::new(Layer::read("o", &tree, bailiwick_types::LayerName::Tool).unwrap());
        let before = resolve(&machine.load().unwrap().settings.baseline, None, Some(&tool)).unwrap();
        machine.folder_file(folder);
        let narrowed = machine.load().unwrap_or_else(|error| panic!("{folder}: {error}"));
        let after = resolve(&narrowed.settings.baseline, None, Some(&tool));
        let after = after.unwrap_or_else(|conflicts| panic!("{folder}: {conflicts}"));
        let diff = bailiwick_policy::diff(&before, &after);
        assert!(!diff.is_wider(), "{folder}: {diff:?}");
        assert!(!diff.is_empty() || folder.contains("ask"), "{folder} changed nothing");
    }
}

#[test]
fn a_folder_that_says_nothing_changes_nothing() {
    let machine = Machine::new();
    machine.user_file("[policy]\nnetwork = \"allowlist\"\nhosts.allow = [\"*\", \"b.test\"]\nhosts.never = [\"*.corp.example\"]\n");
    let shown = |machine: &Machine| shown(&machine.load().unwrap(), "policy.hosts.allow");
    let before = shown(&machine);
    machine.folder_file("");
    assert_eq!(shown(&machine), before);
    // Another port is another place.
    machine.folder_file("[policy.hosts]\nnever = [\"b.test:8443\"]\n");
    assert_eq!(shown(&machine), before);
    machine.folder_file("[policy.hosts]\nnever = [\"b.test\"]\n");
    assert_eq!(shown(&machine), format!("[\"*\"] from {}", machine.path("work/bailiwick.toml").display()));
}

#[test]
fn what_a_folder_narrows_narrows_the_profiles_too() {
    for (operator, folder, profile) in [
        ("", "limits.steps = 100000\nceilings.steps = 100000", "strict"),
        ("[profiles.web]\nnetwork = \"strict\"", "ceilings.network = [\"blocked\"]", "web"),
        (
            "[profiles.web]\nnetwork = \"allowlist\"\nhosts = [\"a.test\", \"b.test\"]",
            "policy.hosts.never = [\"a.test\"]",
            "web",
        ),
        ("[profiles.rd]\nfileRead = true", "policy.deny = [\"fs.read\"]", "rd"),
        (
            "[profiles.t]\nremoveDeny = [\"timers\"]\naddAllow = [\"timers\", \"console\"]",
            "policy.deny = [\"console\"]",
            "t",
        ),
        (
            "fs.readRoots = [\"/srv\"]\n[profiles.rd]\nfileRead = true\nbasePath = \"/srv\"",
            "fs.readRoots = []",
            "rd",
        ),
    ] {
        let machine = Machine::new();
        machine.user_file(operator);
        let name = bailiwick_types::ProfileName::parse(profile).unwrap();
        let before = resolve(&machine.load().unwrap().settings.baseline, Some(&name), None).unwrap();
        machine.folder_file(folder);
        let narrowed = machine.load().unwrap().settings.baseline;
        let after = resolve(&narrowed, Some(&name), None);
        let after = after.unwrap_or_else(|conflicts| panic!("{folder}: {conflicts}"));
        let diff = bailiwick_policy::diff(&before, &after);
        assert!(!diff.is_wider() && !diff.is_empty(), "{folder}: {diff:?}");
    }
}

#[test]
fn a_list_is_narrowed_by_flag_and_folder_together() {
    let machine = Machine::new();
    machine.folder_file("[ceilings]\nnetwork = [\"blocked\", \"allowlist\"]\n");
    let request = Request { set: vec!["ceilings.network=blocked,strict".into()], ..Request::default() };
    let loaded = load(&machine.environment, &request).unwrap();
    assert_eq!(
        loaded.config.get("ceilings.network").unwrap().value.to_json(),
        serde_json::json!(["blocked"])
    );
}

#[test]
fn a_reserved_address_may_be_narrowed_to_a_port() {
    let machine = Machine::new();
    machine.user_file("[policy.hosts]\nreserved = [\"169.254.169.254\"]\n");
    machine.folder_file("[policy.hosts]\nreserved = [\"169.254.169.254:80\"]\n");
    assert!(machine.load().is_ok());
    machine.user_file("[policy.hosts]\nreserved = [\"169.254.169.254:80\"]\n");
    machine.folder_file("[policy.hosts]\nreserved = [\"169.254.169.254\"]\n");
    check_refused(&machine, "would widen", "bailiwick trust");
}

#[test]
fn no_name_makes_a_guests_file_configuration() {
    // The data folder around the operator's own file.
    let machine = Machine::new();
    machine.user_file("[limits]\nwall = \"1s\"\n");
    let request = Request { data: Some(machine.path("home/.config")), ..Request::default() };
    let refused =
        |result: Result<Loaded, ConfigError>| matches!(result, Err(ConfigError::NotConfiguration { .. }));
    assert!(refused(load(&machine.environment, &request)));
    // The operator's own file as a link into the data folder.
    let machine = Machine::new();
    let inside = machine.file("home/.local/share/bailiwick/ws/bailiwick.toml", "[limits]\nwall = \"1s\"\n");
    std::fs::create_dir_all(machine.path("home/.config/bailiwick")).unwrap();
    std::os::unix::fs::symlink(&inside, machine.path("home/.config/bailiwick/bailiwick.toml")).unwrap();
    assert!(refused(machine.load()));
    // A trusted file that mounts its own folder.
    let machine = Machine::new();
    let text = format!("[fs]\nmounts = [\"{}\"]\n", machine.path("work").display());
    let path = machine.folder_file(&text);
    Trust::open(&machine.environment.config_folder().unwrap()).unwrap().record(&path, &text).unwrap();
    assert!(refused(machine.load()));
}

#[test]
fn a_folder_narrows_whatever_flags_and_variables_say() {
    let machine = Machine::new();
    machine.folder_file("[limits]\nwall = \"3s\"\n");
    let wall = |flag: &str| {
        let request = Request { set: vec![format!("limits.wall={flag}")], ..Request::default() };
        load(&machine.environment, &request).unwrap().settings.baseline.limits.get(LimitKind::Wall)
    };
    assert_eq!(wall("4s"), 3_000, "the folder's word is the last, because it can only narrow");
    assert_eq!(wall("2s"), 2_000, "a stricter flag stays");
    machine.folder_file("[limits]\nwall = \"10s\"\n");
    assert_eq!(wall("20s"), 10_000, "narrower than what was asked for is narrower");
    check_refused(&machine, "would widen", "bailiwick trust");
}

#[test]
fn every_widening_key_of_a_folder_is_named_at_once() {
    let machine = Machine::new();
    machine.folder_file("[limits]\nwall = \"6s\"\ncpu = \"1s\"\n[policy]\nnetwork = \"open\"\n");
    let Err(ConfigError::Document(problems)) = machine.load() else { panic!("must be refused") };
    let lines: Vec<u32> = problems.list.iter().filter_map(|p| p.place.map(|place| place.line)).collect();
    assert_eq!(lines, [2, 5]);
}

#[test]
fn trust_is_bound_to_the_content() {
    let machine = Machine::new();
    let text = "[limits]\nwall = \"6s\"\n";
    let path = machine.folder_file(text);
    let data = machine.environment.config_folder().unwrap();
    Trust::open(&data).unwrap().record(&path, text).unwrap();
    assert_eq!(machine.load().unwrap().settings.baseline.limits.get(LimitKind::Wall), 6_000);
    // One byte more, and it is a stranger's file again.
    machine.folder_file("[limits]\nwall = \"7s\"\n");
    check_refused(&machine, "would widen", "bailiwick trust");
    // The same content at another place is not trusted either.
    machine.folder_file(text);
    let mut trust = Trust::open(&data).unwrap();
    assert_eq!(trust.list().count(), 1);
    assert!(!trust.covers(&machine.path("elsewhere/bailiwick.toml"), text));
    assert!(trust.forget(&path).unwrap());
    assert!(!trust.forget(&path).unwrap());
    check_refused(&machine, "would widen", "bailiwick trust");
}

#[test]
fn a_damaged_record_of_trust_is_an_error_and_not_an_empty_one() {
    let machine = Machine::new();
    machine.folder_file("[limits]\nwall = \"1s\"\n");
    machine.file("home/.config/bailiwick/trusted", "nonsense\n");
    check_refused(&machine, "damaged at line 1", "trust the files again");
}

#[test]
fn the_record_of_trust_is_readable_by_its_owner_alone() {
    let machine = Machine::new();
    let path = machine.folder_file("x = 1");
    let data = machine.environment.config_folder().unwrap();
    Trust::open(&data).unwrap().record(&path, "x = 1").unwrap();
    let mode = data.join("trusted").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn no_file_that_a_guest_may_have_written_is_configuration() {
    let mut machine = Machine::new();
    let data = machine.environment.data_folder().unwrap();
    let workspace = data.join("workspaces").join("tool");
    std::fs::create_dir_all(&workspace).unwrap();
    files::replace(&workspace.join("bailiwick.toml"), "[limits]\nwall = \"1s\"\n", files::Readers::Owner)
        .unwrap();
    machine.environment.working_folder = workspace;
    let loaded = machine.load().unwrap();
    assert_eq!(shown(&loaded, "limits.wall"), "\"5s\" from built-in");
    assert!(loaded.notes[0].contains("lies in the data folder"), "{:?}", loaded.notes);

    // Also when the data folder is elsewhere this time, or the file is a link into it.
    let elsewhere = Request { data: Some(machine.path("elsewhere")), ..Request::default() };
    assert!(load(&machine.environment, &elsewhere).unwrap().notes[0].contains("lies in the data folder"));
    let inside = machine.environment.working_folder.join("bailiwick.toml");
    let named = Request { config: Some(inside.clone()), ..Request::default() };
    assert!(matches!(load(&machine.environment, &named), Err(ConfigError::NotConfiguration { .. })));
    machine.environment.working_folder = machine.path("work");
    std::os::unix::fs::symlink(&inside, machine.path("work/bailiwick.toml")).unwrap();
    assert!(machine.load().unwrap().notes[0].contains("lies in the data folder"));

    let mounted = machine.path("mounted");
    files::replace(&mounted.join("sub/bailiwick.toml"), "nonsense", files::Readers::Owner).unwrap();
    machine.user_file(&format!("[fs]\nmounts = [\"{}\"]\n", mounted.display()));
    machine.environment.working_folder = mounted.join("sub");
    let loaded = machine.load().unwrap();
    assert!(loaded.notes.iter().any(|note| note.contains("lies under the mount")), "{:?}", loaded.notes);
    machine.user_file("");
    let flag = Request { set: vec![format!("fs.mounts={}", mounted.display())], ..Request::default() };
    let by_flag = load(&machine.environment, &flag).unwrap();
    assert!(by_flag.notes.iter().any(|note| note.contains("lies under the mount")), "{:?}", by_flag.notes);
}

#[test]
fn what_is_not_a_file_of_the_operators_is_not_read() {
    let machine = Machine::new();
    let path = machine.path("work/bailiwick.toml");
    std::fs::create_dir(&path).unwrap();
    check_refused(&machine, "is not a regular file", "");
    std::fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    check_refused(&machine, "is not a regular file", "");
    std::fs::remove_file(&path).unwrap();

    machine.folder_file("[limits]\nwall = \"1s\"\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    check_refused(&machine, "can be written by every user", "chmod o-w");
    machine.folder_file(&"#".repeat(2 << 20));
    check_refused(&machine, "more than 1048576 bytes", "");
}

#[test]
fn a_read_root_never_shows_our_own_folders() {
    let machine = Machine::new();
    let home = machine.path("home");
    let etc = machine.path("etc");
    for root in [
        "/".to_owned(),
        home.display().to_string(),
        format!("{}/.config/bailiwick/x", home.display()),
        etc.display().to_string(),
    ] {
        for key in ["readRoots", "mounts"] {
            machine.user_file(&format!("[fs]\n{key} = [\"{root}\"]\n"));
            check_refused(&machine, "lie in one another", "narrower folder");
        }
    }
    let own = machine.path("op");
    let file = machine.file("op/op.toml", &format!("[fs]\nreadRoots = [\"{}\"]\n", own.display()));
    let request = Request { config: Some(file), ..Request::default() };
    assert!(matches!(load(&machine.environment, &request), Err(ConfigError::Settings(_))));
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let machine = Machine::new();
    let path = machine.file("x/y/z", "one");
    files::replace(&path, "two", files::Readers::Owner).unwrap();
    assert_eq!(files::read_config(&path).unwrap().as_deref(), Some("two"));
    assert!(files::replace(Path::new("/proc/nope/x"), "three", files::Readers::Owner).is_err());
    assert_eq!(files::read_config(Path::new("/nowhere/at/all")).unwrap(), None);
}

/// What a folder's file might say, wide and narrow.
const SAYINGS: &[&str] = &[
    "limits.wall = \"1s\"",
    "limits.wall = \"9s\"",
    "ceilings.wall = \"2s\"",
    "ceilings.steps = 10_000",
    "ceilings.memory = \"2GiB\"",
    "ceilings.network = [\"blocked\", \"strict\"]",
    "ceilings.network = [\"allowlist\"]",
    "ceilings.risk = \"L1\"",
    "policy.allow = [\"console\"]",
    "policy.allow = [\"crypto.**\"]",
    "policy.allow = [\"timers\"]",
    "policy.deny = [\"crypto.*\", \"eval\"]",
    "policy.deny = []",
    "policy.network = \"blocked\"",
    "policy.network = \"allowlist\"",
    "policy.network = \"open\"",
    "policy.hosts.allow = [\"a.test\"]",
    "policy.hosts.allow = [\"*.b.test\"]",
    "policy.hosts.never = [\"a.test\", \"*.b.test\"]",
    "policy.hosts.reserved = [\"169.254.169.254\"]",
    "policy.ask.net = \"always\"",
    "policy.ask.fs = \"first\"",
    "fs.readRoots = [\"/srv/a\"]",
    "fs.readRoots = [\"/srv/a/sub\"]",
    "fs.readRoots = []",
    "fs.sharedWorkspaces = [\"team\"]",
    "fs.sharedWorkspaces = []",
    "approvals.autoFrom = \"L0\"",
    "approvals.autoFrom = \"L5\"",
    "server.listen = \"127.0.0.1:8283\"",
];

const OPERATORS: &[&str] = &[
    "",
    "policy.network = \"strict\"\nfs.readRoots = [\"/srv/a\", \"/srv/b\"]",
    "policy.network = \"strict\"\npolicy.hosts.allow = [{host = \"10.0.0.5\", port = 8443, private = true}]",
    "policy.network = \"allowlist\"\npolicy.hosts.allow = [\"a.test\", \"*.b.test\"]\npolicy.allow = [\"crypto.**\", \"console\"]",
    "policy.network = \"open\"\npolicy.hosts.reserved = [\"169.254.169.254\"]\npolicy.ask.net = \"first\"",
];

const TOOLS: &[&str] = &[
    "",
    "fileRead: true",
    "network: strict\nfileRead: true",
    "network: allowlist\nhosts: [c.test]",
    "network: open",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 120, ..Default::default() })]

    #[test]
    fn no_untrusted_folder_file_ever_widens(
        operator in proptest::sample::select(OPERATORS),
        sayings in proptest::sample::subsequence(SAYINGS, 1..5),
        tool in proptest::sample::select(TOOLS),
    ) {
        let machine = Machine::new();
        machine.user_file(operator);
        let before = machine.load().unwrap().settings;
        machine.folder_file(&sayings.join("\n"));
        // A key said twice is no TOML, and a widening one is refused: both are fine.
        let Ok(after) = machine.load().map(|loaded| loaded.settings) else { return Ok(()) };
        let tree = parse("o", tool, Format::Yaml, Bounds::WRITTEN_BY_HAND).unwrap();
        let layer = Arc::new(Layer::read("o", &tree, bailiwick_types::LayerName::Tool).unwrap());
        proptest::prop_assert!(after.approvals.auto_from <= before.approvals.auto_from);
        proptest::prop_assert!(after.baseline.ceilings.risk <= before.baseline.ceilings.risk);
        for kind in LimitKind::ALL {
            let ceiling = |settings: &Settings| settings.baseline.ceilings.limits.get(*kind);
            proptest::prop_assert!(ceiling(&after) <= ceiling(&before), "{}", kind.key());
        }
        let resolved = |settings: &Settings| resolve(&settings.baseline, None, Some(&layer));
        match (resolved(&before), resolved(&after)) {
            (Ok(before), Ok(after)) => {
                let diff = bailiwick_policy::diff(&before, &after);
                proptest::prop_assert!(!diff.is_wider(), "{sayings:?} widened {operator:?}: {:?}", diff.newly_allowed);
            }
            (Err(_), Ok(_)) => proptest::prop_assert!(false, "{sayings:?} made {tool:?} possible"),
            (_, Err(_)) => {}
        }
    }
}

#[test]
fn a_waiting_question_is_announced_to_programs_and_safe_addresses() {
    let machine = Machine::new();
    machine.user_file(
        "[approvals]\nnotify = [\"/usr/local/bin/bell\", \"https://hooks.test/x\", \"http://127.0.0.1:9000/\", \
         \"http://[::1]/\", \"http://localhost\"]\n",
    );
    let notify = machine.load().unwrap().settings.approvals.notify;
    let address = |text: &str| Notify::Address(text.to_owned());
    let expected = [
        Notify::Program("/usr/local/bin/bell".into()),
        address("https://hooks.test/x"),
        address("http://127.0.0.1:9000/"),
        address("http://[::1]/"),
        address("http://localhost"),
    ];
    assert_eq!(notify, expected);
    for wrong in [
        "bell",
        "./bell",
        "",
        "https://",
        "http://hooks.test/t0k3n",
        "http://127.0.0.1.hooks.test/t0k3n",
        "http://127.0.0.1@hooks.test/t0k3n",
        "http://localhost.hooks.test/t0k3n",
        "ftp://hooks.test/t0k3n",
        "bash -c bell",
    ] {
        machine.user_file(&format!("[approvals]\nnotify = [\"{wrong}\"]\n"));
        check_refused(&machine, "neither a program nor an address", "absolute path");
        let error = machine.load().expect_err("must be refused").to_string();
        assert!(!error.contains("t0k3n"), "{error}");
    }
}
