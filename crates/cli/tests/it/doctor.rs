//! `doctor` as people and machines see it: which walls stand, seen by trying them, and what each backend does here.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a fixture that cannot be made ends its test")]

use std::time::{Duration, Instant};

use bailiwick_testkit::{Program, requires};
use serde_json::Value;

use super::bailiwick;

/// What `doctor --json` says.
#[track_caller]
fn doctor(program: &Program, arguments: &[&str]) -> Value {
    let run = program.run(&[&["doctor", "--json"], arguments].concat());
    assert_eq!(run.code, Some(0), "{arguments:?}: {}{}", run.stdout, run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// The backend of this name in it.
#[track_caller]
fn backend<'a>(seen: &'a Value, id: &str) -> &'a Value {
    let all = seen["backends"].as_array().unwrap();
    all.iter().find(|backend| backend["id"] == id).unwrap_or_else(|| panic!("no {id}: {seen}"))
}

#[test]
fn it_says_which_walls_stand_and_that_it_tried_them() {
    let seen = doctor(&bailiwick(), &[]);
    let tried = seen["cells"]["tried"].as_array().unwrap();
    assert!(tried.len() >= 20 && tried.iter().all(|one| one["trapped"] == true), "{tried:?}");
    assert!(seen["cells"]["parkedLatencyUs"].as_u64().is_some_and(|us| us > 0));
    let run = bailiwick().run(&["doctor"]);
    assert!(run.stdout.contains("no network") && run.stdout.contains("were stopped"), "{}", run.stdout);
}

#[test]
fn it_tells_of_backends_in_the_promised_shape() {
    let seen = doctor(&bailiwick(), &[]);
    for backend in seen["backends"].as_array().unwrap() {
        let fields: Vec<&str> = backend.as_object().unwrap().keys().map(String::as_str).collect();
        let promised = ["id", "tier", "available", "reason", "fix", "enforces", "coldStartMs", "execMs"];
        assert_eq!(fields, [&promised[..], &["listed", "found"]].concat(), "{backend}");
    }
    let tiers = [("process", "PROCESS"), ("gvisor", "USER_KERNEL"), ("wasm", "USER_KERNEL")];
    for (id, tier) in tiers {
        assert_eq!(backend(&seen, id)["tier"], tier);
    }
    requires!("sandboxes", backend(&seen, "process")["available"] == true);
    for id in ["process", "wasm"] {
        let backend = backend(&seen, id);
        assert_eq!((&backend["available"], &backend["listed"]), (&true.into(), &true.into()), "{backend}");
        assert!(backend["coldStartMs"].is_number() && backend["execMs"].is_number(), "{backend}");
        assert_eq!(backend["enforces"].as_array().unwrap().len(), 10);
    }
}

#[test]
fn people_are_told_what_was_found_too() {
    let found = &doctor(&bailiwick(), &["--backend", "process"])["backends"][0]["found"];
    let found = found.as_array().unwrap();
    assert!(found.iter().any(|line| line.as_str().unwrap().starts_with("kernel ")), "{found:?}");
    let run = bailiwick().run(&["doctor", "--backend", "process"]);
    for line in found {
        let told = format!("  found    {}", line.as_str().unwrap());
        assert!(run.stdout.lines().any(|said| said == told), "{told:?}: {}", run.stdout);
    }
}

#[test]
fn a_backend_that_is_not_listed_is_off_and_is_told_how_to_have_it() {
    let run = bailiwick().run(&["doctor"]);
    let row = run.stdout.lines().find(|line| line.starts_with("gvisor ")).unwrap_or_default();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["gvisor", "USER_KERNEL", "off", "-", "-", "-"]);
    let seen = doctor(&bailiwick(), &["--set", "sandbox.backends=process"]);
    for id in ["gvisor", "wasm"] {
        let off = backend(&seen, id);
        assert_eq!((&off["available"], &off["listed"]), (&false.into(), &false.into()), "{off}");
        assert_eq!(off["reason"], "it is off: sandbox.backends does not list it");
        let list = format!("sandbox.backends = [\"process\", \"{id}\"]");
        assert!(off["fix"].as_str().unwrap().contains(&list), "{off}");
        assert!(off["coldStartMs"].is_null() && off["found"].is_null(), "it was not looked at: {off}");
    }
}

#[test]
fn a_backend_that_is_off_is_looked_at_where_somebody_asks() {
    let all =
        ["--set", "sandbox.backends=process", "--set", "sandbox.gvisor.program=/nowhere/runsc", "--all"];
    let seen = doctor(&bailiwick(), &all);
    let gvisor = backend(&seen, "gvisor");
    assert_eq!((&gvisor["available"], &gvisor["listed"]), (&false.into(), &false.into()));
    assert!(gvisor["reason"].as_str().unwrap().contains("/nowhere/runsc"), "{gvisor}");
    let wasm = backend(&seen, "wasm");
    requires!("sandboxes", backend(&seen, "process")["available"] == true);
    assert_eq!((&wasm["available"], &wasm["listed"]), (&true.into(), &false.into()), "{wasm}");
    assert!(wasm["fix"].as_str().unwrap().contains("it works here, and is off"), "{wasm}");
    let one = ["--set", "sandbox.backends=process", "--backend", "wasm"];
    let seen = doctor(&bailiwick(), &one);
    assert_eq!(seen["backends"].as_array().unwrap().len(), 1);
    assert_eq!(backend(&seen, "wasm")["available"], true);
}

#[test]
fn a_backend_that_nobody_knows_is_refused() {
    let run = bailiwick().run(&["doctor", "--backend", "lunar"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("`lunar`") && run.stderr.contains("gvisor"), "{}", run.stderr);
}

#[test]
fn a_backend_that_hangs_keeps_nobody_waiting() {
    let program = bailiwick().with_file("runsc", "#!/bin/sh\nexec sleep 600\n");
    let script = program.working_folder().join("runsc");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
    let began = Instant::now();
    let key = format!("sandbox.gvisor.program={}", script.display());
    let seen = doctor(&program, &["--set", &key, "--set", "sandbox.backends=process,gvisor"]);
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    let gvisor = backend(&seen, "gvisor");
    assert_eq!((&gvisor["available"], &gvisor["listed"]), (&false.into(), &true.into()), "{gvisor}");
    requires!("sandboxes", backend(&seen, "process")["available"] == true);
    assert!(backend(&seen, "process")["execMs"].is_number());
}

#[test]
fn settings_that_cannot_be_read_are_no_reason_not_to_look() {
    let program = bailiwick().with_home_file(".config/bailiwick/bailiwick.toml", "nonsense = 1\n");
    let seen = doctor(&program, &[]);
    assert_eq!(backend(&seen, "gvisor")["listed"], false);
    assert_eq!(backend(&seen, "wasm")["listed"], true);
}
