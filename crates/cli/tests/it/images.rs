//! Images by the command line: brought in, listed, removed, each on the record.

use bailiwick_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Value, json};

use crate::bailiwick;

/// What was printed as JSON; what is none is told as it is.
fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// A registry with one image without layers, `tool:1`.
fn registry() -> Upstream {
    use sha2::Digest as _;
    let digest = |bytes: &str| {
        let hex: Vec<_> = sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{}", hex.concat())
    };
    let here = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let config = json!({
        "os": "linux", "architecture": here, "config": {"Entrypoint": ["/bin/tool"], "Env": ["A=b"]},
        "rootfs": {"type": "layers", "diff_ids": []},
    });
    let config = config.to_string();
    let manifest = json!({
        "schemaVersion": 2, "layers": [],
        "config": {"mediaType": "x", "digest": digest(&config), "size": config.len()},
    });
    let manifest = manifest.to_string();
    let blob = format!("/v2/tool/blobs/{}", digest(&config));
    Upstream::http(move |request: &Request| match request.path() {
        "/v2/tool/manifests/1" => Answer::new(200).body(manifest.clone()),
        path if path == blob => Answer::new(200).body(config.clone()),
        _ => Answer::new(404).body("{}"),
    })
}

#[test]
fn an_image_is_pulled_listed_and_removed_and_the_record_says_so() {
    let registry = registry();
    let name = format!("127.0.0.1:{}/tool:1", registry.port());
    let program = bailiwick();
    let run = program.run(&["image", "pull", &name, "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let pulled = json_of(&run.stdout);
    assert_eq!((&pulled["name"], &pulled["config"]["entrypoint"][0]), (&json!(name), &json!("/bin/tool")));
    let listed = program.run(&["image", "ls"]);
    assert!(listed.stdout.contains(&name) && listed.stdout.contains("/bin/tool"), "{}", listed.stdout);
    let run = program.run(&["image", "pull", &name.replace(":1", ":2")]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("404") && run.stderr.contains("look at its name"), "{}", run.stderr);
    let run = program.run(&["image", "rm", &name, "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(json_of(&run.stdout)["collected"]["trees"], json!(1));
    let run = program.run(&["audit", "tail", "--json"]);
    let records = json_of(&run.stdout);
    let told: Vec<String> = records["records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record["action"].as_str().is_some_and(|action| action.starts_with("image.")))
        .map(|record| format!("{} {}", record["kind"].as_str().unwrap(), record["action"].as_str().unwrap()))
        .collect();
    let mut sorted = told.clone();
    sorted.sort();
    let expected = [
        "intent image.pull",
        "intent image.pull",
        "intent image.remove",
        "outcome image.pull",
        "outcome image.pull",
        "outcome image.remove",
    ];
    assert_eq!(sorted, expected, "{told:?}");
}

#[test]
fn what_is_ours_is_never_made_an_image() {
    let program = bailiwick().with_file("rootfs/etc/name", "x");
    let run = program.run(&["image", "import", "rootfs", "it:1"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for own in ["../home/.local/share/bailiwick", "../home/.local/share/bailiwick/images", "../home", "/"] {
        let run = program.run(&["image", "import", own, "stolen:1"]);
        assert_eq!(run.code, Some(3), "{own}: {}{}", run.stdout, run.stderr);
    }
    let run = program.run(&["image", "import", "/proc/self/fd", "it:2"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
}

#[test]
fn an_owner_of_the_data_folder_is_asked_and_keeps_what_it_brought() {
    let program = bailiwick().with_file("rootfs/etc/name", "x");
    let owner = program.start(&["own"]);
    owner.wait_for("owns ");
    let run = program.run(&["image", "import", "rootfs", "it:1"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let run = program.run(&["image", "ls", "--json"]);
    assert_eq!(json_of(&run.stdout)["images"][0]["name"], json!("it:1"));
    owner.terminate();
    owner.end();
    let run = program.run(&["image", "ls", "--json"]);
    assert_eq!(json_of(&run.stdout)["images"][0]["name"], json!("it:1"));
}
