//! Changes under overlays and ports of sandboxes, at a server: who may look, who may take, and what nobody takes unseen.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "files of the test's own, changed behind a sandbox's back, and a client that speaks HTTP byte by byte"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use bailiwick_testkit::{Program, requires};
use serde_json::{Value, json};

use super::sandboxes::Client;
use super::{Serving, bailiwick, has_sandboxes, run};

/// A folder that may be mounted, and a server that says so.
fn served() -> (Program, PathBuf, Serving) {
    let program = bailiwick().with_file("project/a.txt", "one\n").with_file("project/both.txt", "mine\n");
    let folder = program.working_folder().join("project");
    let server = Serving::start(&program, &["--set", &format!("fs.mounts={}", folder.display())]);
    (program, folder, server)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Makes a sandbox over the folder, and changes it from inside.
fn changed(client: &Client, folder: &Path) {
    let wish = json!({"name": "job", "overlays": [{"from": folder, "to": "/work"}]});
    client.json("POST", "/v1/sandboxes", &wish, 201);
    shell(client, "echo two >> a.txt; echo theirs > both.txt; mkdir deep; echo n > deep/new");
}

fn shell(client: &Client, text: &str) {
    let ran = client.json("POST", "/v1/sandboxes/job/exec", &json!({"shell": text}), 200);
    assert_eq!(ran["exitCode"], 0, "{ran:#}");
}

#[test]
fn changes_are_shown_taken_and_dropped_over_http() {
    requires!("sandboxes", has_sandboxes());
    let (program, folder, server) = served();
    let person = Client::with(&program, &server, "person", "author,approve");
    changed(&person, &folder);
    // Nothing lands over a wire before somebody was shown it.
    let commit = "/v1/sandboxes/job/commit";
    let unseen = person.json("POST", commit, &json!({"paths": ["a.txt"]}), 409);
    assert!(unseen["detail"].as_str().is_some_and(|detail| detail.contains("shown")), "{unseen:#}");
    assert_eq!(read(&folder.join("a.txt")), "one\n");
    let shown = person.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    assert_eq!(shown["count"], 4, "{shown:#}");
    assert_eq!((&shown["from"], &shown["to"]), (&json!(folder), &json!("/work")));
    assert!(shown["patch"].as_str().is_some_and(|patch| patch.contains("+two")), "{shown:#}");
    let short = person.json("GET", "/v1/sandboxes/job/diff?patchBytes=0", &Value::Null, 200);
    assert_eq!(short["changes"], shown["changes"]);
    assert!(short["patch"].as_str().is_some_and(|patch| !patch.contains("+two")), "{short:#}");
    let some = person.json("GET", "/v1/sandboxes/job/diff?path=deep&path=a.txt", &Value::Null, 200);
    assert_eq!(some["count"], 3, "{some:#}");
    person.json("GET", "/v1/sandboxes/job/diff?at=/elsewhere", &Value::Null, 400);
    person.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    // What the host changed meanwhile is told by its path, and nothing is written.
    fs::write(folder.join("both.txt"), "changed here\n").unwrap();
    let refused = person.json("POST", commit, &json!({}), 409);
    assert_eq!(refused["code"], "CONFLICT");
    assert_eq!(refused["faults"].as_array().map(Vec::len), Some(1), "{refused:#}");
    assert_eq!(refused["faults"][0]["path"], "both.txt");
    assert_eq!(refused["faults"][0]["message"], "changed on the host meanwhile");
    assert_eq!((read(&folder.join("a.txt")).as_str(), folder.join("deep").exists()), ("one\n", false));
    let landed = person.json("POST", commit, &json!({"paths": ["a.txt"]}), 200);
    assert_eq!((&landed["done"], &landed["left"]), (&json!(["a.txt"]), &json!([])));
    assert_eq!(read(&folder.join("a.txt")), "one\ntwo\n");
    person.json("POST", commit, &json!({"paths": ["nowhere"]}), 404);
    let dropped = person.json("POST", "/v1/sandboxes/job/discard", &Value::Null, 200);
    assert_eq!(dropped["done"].as_array().map(Vec::len), Some(3), "{dropped:#}");
    let left = person.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    assert_eq!((&left["count"], &left["patch"]), (&json!(0), &json!("")));
    assert_eq!(read(&folder.join("both.txt")), "changed here\n");
    assert!(!folder.join("deep").exists());
    server.end();
}

#[test]
fn a_key_that_only_authors_never_writes_to_the_folder() {
    requires!("sandboxes", has_sandboxes());
    let (program, folder, server) = served();
    let agent = Client::new(&program, &server, "agent");
    changed(&agent, &folder);
    agent.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    let refused = agent.json("POST", "/v1/sandboxes/job/commit", &json!({}), 403);
    assert_eq!(refused["code"], "FORBIDDEN");
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("`approve`")), "{refused:#}");
    // Whoever only calls sees nothing of it, and whoever has another key finds nothing.
    let caller = Client::with(&program, &server, "caller", "call");
    let other = Client::with(&program, &server, "other", "author,approve");
    for (method, what) in
        [("GET", "diff"), ("POST", "commit"), ("POST", "discard"), ("GET", "ports"), ("POST", "ports")]
    {
        let (at, body) = (format!("/v1/sandboxes/job/{what}"), json!({"port": 80}));
        let body = if what == "ports" { body } else { json!({}) };
        caller.json(method, &at, &body, 403);
        other.json(method, &at, &body, 404);
    }
    assert_eq!((read(&folder.join("a.txt")).as_str(), folder.join("deep").exists()), ("one\n", false));
    server.end();
}

#[test]
fn what_somebody_else_was_shown_is_not_what_a_person_takes() {
    requires!("sandboxes", has_sandboxes());
    let (program, folder, server) = served();
    let agent = Client::new(&program, &server, "agent");
    let person = Client::with(&program, &server, "person", "operate");
    changed(&agent, &folder);
    person.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    // The agent goes on, and looks and drops by itself: that makes nothing seen that the person has not seen.
    shell(&agent, "echo evil > a.txt; echo more > new.txt");
    agent.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    agent.json("POST", "/v1/sandboxes/job/discard", &json!({"paths": ["both.txt"]}), 200);
    agent.json("GET", "/v1/sandboxes/job/diff", &Value::Null, 200);
    let refused = person.json("POST", "/v1/sandboxes/job/commit", &json!({}), 409);
    let unseen: Vec<&str> =
        refused["faults"].as_array().unwrap().iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    assert_eq!(unseen, ["a.txt", "new.txt"], "{refused:#}");
    assert_eq!((read(&folder.join("a.txt")).as_str(), folder.join("deep").exists()), ("one\n", false));
    person.json("POST", "/v1/sandboxes/job/commit", &json!({"paths": ["deep"]}), 200);
    assert_eq!(read(&folder.join("deep/new")), "n\n");
    server.end();
}

/// What is at `/hello` behind an address.
fn fetched(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /hello HTTP/1.0\r\n\r\n").unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    all
}

#[test]
fn commands_of_this_program_review_and_expose_at_a_server() {
    requires!("sandboxes", has_sandboxes());
    let (program, folder, server) = served();
    let operator = Client::with(&program, &server, "watcher", "operate");
    let client = program.with_variable("BAILIWICK_SERVER", server.address());
    let create = ["-q", "sandbox", "create", "--name", "job", "--overlay", "project", "--expose", "8080"];
    run(&client, &create, 0);
    let script = "echo two >> a.txt; echo theirs > both.txt; echo from inside > hello";
    run(&client, &["sandbox", "exec", "job", "--", "sh", "-c", script], 0);
    let shown = run(&client, &["sandbox", "diff", "job"], 0);
    assert!(shown.stdout.contains("+two") && shown.stdout.contains("+theirs"), "{}", shown.stdout);
    let told: Value =
        serde_json::from_str(&run(&client, &["sandbox", "diff", "job", "--json"], 0).stdout).unwrap();
    assert_eq!(told["count"], 3, "{told:#}");
    fs::write(folder.join("both.txt"), "changed here\n").unwrap();
    let refused = run(&client, &["sandbox", "commit", "job"], 2);
    assert!(
        refused.stderr.contains("both.txt") && refused.stderr.contains("meanwhile"),
        "{}",
        refused.stderr
    );
    assert_eq!(run(&client, &["sandbox", "commit", "job", "a.txt"], 0).stdout, "a.txt\n");
    assert_eq!(read(&folder.join("a.txt")), "one\ntwo\n");
    assert_eq!(run(&client, &["sandbox", "expose", "job"], 0).stdout, "no port is exposed\n");
    run(&client, &["sandbox", "expose", "job", "9090"], 2);
    let exposed = run(&client, &["sandbox", "expose", "job", "8080"], 0);
    assert!(exposed.stderr.contains("the server's own machine"), "{}", exposed.stderr);
    let address = exposed.stdout.trim();
    let listens = json!({"argv": ["python3", "-u", "-m", "http.server", "8080"]});
    let serving = operator.begin("/v1/sandboxes/job/exec?stream", &listens, "Serving HTTP");
    assert!(fetched(address).ends_with("from inside\n"));
    let listed: Value =
        serde_json::from_str(&run(&client, &["sandbox", "expose", "job", "--json"], 0).stdout).unwrap();
    assert_eq!(listed["ports"][0]["address"], address, "{listed:#}");
    assert_eq!(listed["ports"].as_array().map(Vec::len), Some(1));
    drop(serving);
    run(&client, &["sandbox", "discard", "job"], 0);
    let left = run(&client, &["sandbox", "diff", "job"], 0);
    assert_eq!(left.stdout, "", "{}", left.stderr);
    assert_eq!(read(&folder.join("both.txt")), "changed here\n");
    server.end();
}
