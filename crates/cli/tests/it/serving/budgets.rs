//! What callers share at a server, taken as far as it goes: the disk of the audit log, and descriptors. The operator's calls go
//! on, and `/readyz` fails only while nothing can be recorded.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a client that speaks HTTP byte by byte, and a disk that is filled by hand, are a part of these tests"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bailiwick_testkit::{Program, requires};
use serde_json::{Value, json};

use super::sandboxes::Client;
use super::{GREET, Serving, bailiwick, has_sandboxes, run};

/// Longer than anything here takes; only a test that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Starts the program with a data directory on a file system of its own, of so many MiB.
fn on_a_small_disk(mib: u32) -> Vec<String> {
    let script = format!(
        "/bin/mkdir -p \"$HOME/.local/share/bailiwick\" && \
         /bin/mount -t tmpfs -o size={mib}m,mode=700 tmpfs \"$HOME/.local/share/bailiwick\" && exec \"$0\" \"$@\""
    );
    ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", &script].map(str::to_owned).to_vec()
}

/// Starts the program with so many descriptors at most.
fn with_descriptors(most: u32) -> Vec<String> {
    ["/bin/sh", "-c", &format!("ulimit -n {most} && exec \"$0\" \"$@\"")].map(str::to_owned).to_vec()
}

/// Whether a file system can be mounted.
fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// A request and its answer: the status and the body. Without a key where none is given.
fn ask(address: &str, key: Option<&str>, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let key = key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{key}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let text = String::from_utf8_lossy(&all).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

fn greeting(who: &str) -> String {
    json!({"tool": "greet", "arguments": {"who": who}}).to_string()
}

/// A server on a small disk, and where that is seen from here.
struct SmallDisk {
    server: Serving,
    /// Its home, which goes with it.
    _program: Program,
    address: String,
    operator: String,
    data: PathBuf,
}

impl SmallDisk {
    fn start(mib: u32, settings: &[&str]) -> Self {
        let program = bailiwick().with_file("greet.tool.yaml", GREET).behind(&on_a_small_disk(mib));
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        let server = Serving::start(&program, &settings);
        let home = program.home();
        let root = format!("/proc/{}/root", server.running.id());
        let data = Path::new(&root).join(home.strip_prefix("/").unwrap()).join(".local/share/bailiwick");
        let operator = std::fs::read_to_string(data.join("operator.key")).unwrap().trim().to_owned();
        let client = bailiwick()
            .with_file("greet.tool.yaml", GREET)
            .with_variable("BAILIWICK_SERVER", server.address())
            .with_variable("BAILIWICK_KEY", &operator);
        run(&client, &["tool", "publish", "greet.tool.yaml"], 0);
        let address = server.address().trim_start_matches("http://").to_owned();
        Self { server, _program: program, address, operator, data }
    }

    /// Fills the disk up to so many free bytes.
    fn leave(&self, free: u64) {
        let disk = bailiwick_sys::capacity::disk(&self.data).unwrap();
        let filler = self.data.join("filler");
        let filler = std::fs::OpenOptions::new().append(true).create(true).open(filler).unwrap();
        let piece = vec![1; 64 << 10];
        let mut left = disk.free.saturating_sub(free);
        while left > 0 {
            let next = piece.len().min(usize::try_from(left).unwrap());
            if (&filler).write_all(&piece[..next]).is_err() {
                return;
            }
            left -= next as u64;
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.data.join("filler")).unwrap();
    }

    fn call(&self, key: Option<&str>, who: &str) -> (u16, Value) {
        let (status, body) = ask(&self.address, key, "POST", "/v1/execute", &greeting(who));
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    #[track_caller]
    fn operator_calls(&self) {
        let (status, body) = self.call(Some(&self.operator), "you");
        assert_eq!((status, &body["value"]), (200, &json!("Hello you!")), "{body}");
    }

    fn ready(&self) -> u16 {
        ask(&self.address, None, "GET", "/readyz", "").0
    }

    /// Calls without a key until that is refused; gives the refusal and how many went before it.
    fn calls_until_refused(&self, who: &str) -> (u16, Value, usize) {
        let calls = (0..20_000).map(|number| (number, self.call(None, who)));
        let refused = calls.map(|(number, (status, body))| (status, body, number)).find(|call| call.0 != 200);
        refused.unwrap()
    }
}

#[test]
fn calls_without_a_key_cannot_fill_the_disk_of_the_audit_log() {
    requires!("root", is_root());
    let disk = SmallDisk::start(24, &["audit.hourly=1GiB"]);
    disk.leave(6 << 20);
    // The last 4 MiB are the operator's.
    let (status, body, before) = disk.calls_until_refused(&"x".repeat(250_000));
    assert_eq!((status, &body["code"]), (503, &json!("UNAVAILABLE")), "{body}");
    assert!(body["detail"].as_str().unwrap_or_default().contains("audit.reserve"), "{body}");
    // Their arguments are kept by hash: two times 250 kB for each would have filled it with the fourth.
    assert!(before > 20, "{before} calls filled 2 MiB");
    for _ in 0..50 {
        disk.operator_calls();
    }
    assert_eq!(disk.ready(), 200, "the operator's calls can be recorded");
    assert_eq!(disk.call(None, "you").0, 503, "others still wait");
    // A disk without any room: nothing can be recorded, and that is told.
    disk.leave(0);
    assert_eq!(disk.ready(), 503);
    assert_eq!(disk.call(Some(&disk.operator), "you").0, 503);
    disk.make_room();
    let began = Instant::now();
    while disk.ready() != 200 {
        assert!(began.elapsed() < PATIENCE, "it did not recover");
    }
    disk.operator_calls();
    assert_eq!(disk.call(None, "you").0, 200);
    disk.server.end();
}

#[test]
fn a_caller_adds_only_so_much_to_the_audit_log_in_an_hour() {
    requires!("root", is_root());
    let disk = SmallDisk::start(64, &["audit.hourly=200KiB"]);
    let (status, body, before) = disk.calls_until_refused(&"x".repeat(10_000));
    assert_eq!((status, &body["code"]), (429, &json!("RATE_LIMITED")), "{body}");
    assert!(body["detail"].as_str().unwrap_or_default().contains("audit.hourly"), "{body}");
    // The arguments are there once for each call, and not in its outcome again.
    assert!((13..=20).contains(&before), "{before} calls of 10 kB in 200 KiB");
    disk.operator_calls();
    disk.server.end();
}

/// A tool that keeps 9 MiB in its workspace.
const KEEPS: &str = "name: keeps
description: Keeps a long text.
overrides: {fileWrite: true}
tests:
  - {name: keeps it, equals: 9437184}
code: |
  return safety.fs.writeText('long', 'x'.repeat(9 << 20)).size;
";

#[test]
fn files_that_tools_keep_leave_disk_for_the_audit_log() {
    requires!("root", is_root());
    let disk = SmallDisk::start(64, &["approvals.autoFrom=L5"]);
    let client = bailiwick()
        .with_file("keeps.tool.yaml", KEEPS)
        .with_variable("BAILIWICK_SERVER", disk.server.address())
        .with_variable("BAILIWICK_KEY", &disk.operator);
    run(&client, &["tool", "publish", "keeps.tool.yaml", "--justification", "a test of a full disk"], 0);
    let refused = (0..16).find_map(|number| {
        let call = json!({"tool": "keeps", "arguments": {}, "workspace": format!("shared-{number}")});
        let (status, body) = ask(&disk.address, None, "POST", "/v1/execute", &call.to_string());
        assert_eq!(status, 200, "{body}");
        let report: Value = serde_json::from_str(&body).unwrap();
        (report["ok"] == json!(false)).then_some(report)
    });
    let refused = refused.unwrap();
    assert_eq!(refused["error"]["code"], "DISK_LIMIT", "{refused}");
    let free = bailiwick_sys::capacity::disk(&disk.data).unwrap().free;
    assert!(free > 3 << 20, "{free} bytes are free");
    disk.operator_calls();
    assert_eq!(disk.ready(), 200);
    disk.server.end();
}

/// Opens connections to the proxy inside for as long as there are any, and holds them.
const GREEDY: &str = r"
import os, socket, sys, time
at = os.environ['HTTP_PROXY'].split('//')[1].split(':')
held = []
for _ in range(600):
    try:
        s = socket.socket()
        s.settimeout(5)
        s.connect((at[0], int(at[1])))
        held.append(s)
    except OSError:
        break
print('holds', len(held), flush=True)
time.sleep(600)
";

#[test]
fn connections_of_sandboxes_leave_descriptors_for_the_server() {
    const MOST: usize = 512;
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick()
        .with_file("greet.tool.yaml", GREET)
        .behind(&with_descriptors(u32::try_from(MOST).unwrap()));
    let server = Serving::start(&program, &[]);
    run(&program, &["tool", "publish", "greet.tool.yaml"], 0);
    let (author, address) =
        (Client::new(&program, &server, "author"), server.address().trim_start_matches("http://"));
    let operator =
        std::fs::read_to_string(program.home().join(".local/share/bailiwick/operator.key")).unwrap();
    let mut running = Vec::new();
    for number in 0..12 {
        let wish = json!({"network": "allow:a.test", "name": format!("greedy-{number}")});
        let (status, body) = ask(address, Some(author.key()), "POST", "/v1/sandboxes", &wish.to_string());
        if status == 503 {
            assert!(number >= 4 && body.contains("\"BUSY\""), "{number}: {body}");
            break;
        }
        let path = format!("/v1/sandboxes/greedy-{number}/exec?stream");
        let command = json!({"argv": ["python3", "-c", GREEDY], "timeout": "10m"});
        running.push(author.begin(&path, &command, "holds"));
    }
    // Accepting goes on, and so does what the operator asks for.
    let open = || std::fs::read_dir(format!("/proc/{}/fd", server.running.id())).unwrap().count();
    assert!(open() < MOST * 7 / 8, "{} of {MOST} descriptors are open", open());
    for _ in 0..10 {
        let (status, body) = ask(address, Some(operator.trim()), "POST", "/v1/execute", &greeting("you"));
        assert!(status == 200 && body.contains("Hello you!"), "{status} {body}");
    }
    assert_eq!(ask(address, None, "GET", "/readyz", "").0, 200);
    drop(running);
    server.end();
}
