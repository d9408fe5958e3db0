//! Sandboxes at a server, over HTTP: commands, files and a terminal behind real walls, and nothing left of any of them.
#![expect(
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a client that speaks HTTP byte by byte is a part of these tests"
)]
#![expect(clippy::disallowed_methods, reason = "a pause between two looks")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bailiwick_testkit::{Program, requires};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use super::{Serving, bailiwick, has_sandboxes, run};

/// Longer than anything here takes; only a test that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody with a key of their own.
pub(super) struct Client {
    address: String,
    key: String,
}

impl Client {
    pub(super) fn new(program: &Program, server: &Serving, name: &str) -> Self {
        Self::with(program, server, name, "author")
    }

    /// With a key that covers this.
    pub(super) fn with(program: &Program, server: &Serving, name: &str, scopes: &str) -> Self {
        let key = run(program, &["-q", "key", "create", name, "--scope", scopes], 0).stdout;
        let address = server.address().trim_start_matches("http://").to_owned();
        Self { address, key: key.trim().to_owned() }
    }

    /// The key itself.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        let Self { address, key } = self;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        stream
    }

    /// The status and the body of an answer.
    pub(super) fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut all = Vec::new();
        self.send(method, path, body).read_to_end(&mut all).unwrap();
        let end = all.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = all[end + 4..].to_vec();
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        (status, body)
    }

    #[track_caller]
    pub(super) fn json(&self, method: &str, path: &str, body: &Value, status: u16) -> Value {
        let (answered, text) = self.ask(method, path, body.to_string().as_bytes());
        assert_eq!(answered, status, "{method} {path}: {}", String::from_utf8_lossy(&text));
        serde_json::from_slice(&text).unwrap_or(Value::Null)
    }

    /// Begins a command that speaks, and waits until it has said this.
    pub(super) fn begin(&self, path: &str, body: &Value, says: &str) -> TcpStream {
        let mut stream = self.send("POST", path, body.to_string().as_bytes());
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&heard).contains(says) {
            let count = stream.read(&mut piece).unwrap();
            assert_ne!(count, 0, "{}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&piece[..count]);
        }
        stream
    }

    fn terminal(&self, sandbox: &str) -> Result<Terminal, u16> {
        let uri = format!("ws://{}/v1/sandboxes/{sandbox}/exec", self.address);
        let mut request = uri.into_client_request().unwrap();
        request.headers_mut().insert("x-api-key", self.key.parse().unwrap());
        match tungstenite::client(request, self.connect()) {
            Ok((socket, _)) => Ok(Terminal { socket, shown: String::new() }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(other) => panic!("{other}"),
        }
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return whole;
        }
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 2 + size + 2..];
    }
}

/// Somebody at a terminal.
struct Terminal {
    socket: WebSocket<TcpStream>,
    shown: String,
}

impl Terminal {
    fn say(&mut self, told: &Value) {
        self.socket.send(Message::text(told.to_string())).unwrap();
    }

    fn types(&mut self, text: &str) {
        self.socket.send(Message::binary(text.as_bytes().to_vec())).unwrap();
    }

    /// Waits until this is shown, and looks only at what comes after it from then on.
    #[track_caller]
    fn sees(&mut self, text: &str) {
        while !self.shown.contains(text) {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                other => panic!("{other:?} instead of {text:?} after {:?}", self.shown),
            }
        }
        let behind = self.shown.find(text).unwrap() + text.len();
        self.shown.drain(..behind);
    }

    /// The result at the end.
    fn ends(&mut self) -> Value {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Close(_) => panic!("closed without a result"),
                _ => {}
            }
        }
    }
}

/// How many processes of this machine have this among their words.
#[expect(clippy::disallowed_methods, reason = "what runs is told by /proc")]
fn marked(mark: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter(|entry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(mark)
    })
    .count()
}

/// Waits until nothing with this mark runs.
#[track_caller]
fn ends(mark: &str) {
    let until = Instant::now() + PATIENCE;
    while marked(mark) > 0 {
        assert!(Instant::now() < until, "{} processes are left", marked(mark));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A number of seconds that nobody else sleeps.
fn mark(digit: u8) -> String {
    format!("9{:07}.{digit}", std::process::id())
}

#[test]
fn a_sandbox_is_made_used_and_removed_over_http() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let server = Serving::start(&program, &[]);
    let client = Client::new(&program, &server, "agent");
    let made = client.json("POST", "/v1/sandboxes", &json!({"name": "job"}), 201);
    assert_eq!((&made["name"], &made["state"]), (&json!("job"), &json!("idle")));
    assert!(made["receipt"]["walls"].as_array().is_some_and(|walls| !walls.is_empty()), "{made:#}");
    let exec = "/v1/sandboxes/job/exec";
    let ran =
        client.json("POST", exec, &json!({"shell": "cat > a; echo said; exit 7", "stdin": "given"}), 200);
    assert_eq!((&ran["exitCode"], &ran["stdout"]), (&json!(7), &json!("said\n")));
    let (status, bytes) = client.ask("GET", "/v1/sandboxes/job/files?path=/work/a", b"");
    assert_eq!((status, bytes.as_slice()), (200, &b"given"[..]));
    let strange: Vec<u8> = (0..=255).collect();
    assert_eq!(client.ask("PUT", "/v1/sandboxes/job/files?path=/work/deep/b", &strange).0, 204);
    assert_eq!(client.ask("GET", "/v1/sandboxes/job/files?path=/work/deep/b", b""), (200, strange));
    let listed = client.json("GET", "/v1/sandboxes/job/files?path=/work&list=true", &Value::Null, 200);
    assert_eq!(listed["entries"][0]["name"], "a");
    client.json("DELETE", "/v1/sandboxes/job/files?path=/work/deep", &Value::Null, 204);
    client.json("GET", "/v1/sandboxes/job/files?path=/work/deep/b", &Value::Null, 404);
    let taken = client.json("POST", "/v1/sandboxes/job/snapshot", &Value::Null, 201);
    let fork = client.json("POST", "/v1/sandboxes/job/fork", &json!({"name": "two"}), 201);
    assert_eq!(fork["name"], "two");
    let wish = json!({"argv": ["cat", "a"], "sandbox": {"snapshot": taken["id"]}});
    assert_eq!(client.json("POST", "/v1/exec", &wish, 200)["stdout"], "given");
    let snapshot = format!("/v1/snapshots/{}", taken["id"].as_str().unwrap());
    client.json("DELETE", &snapshot, &Value::Null, 204);
    for what in ["hibernate", "resume", "stop"] {
        client.json("POST", &format!("/v1/sandboxes/job/{what}"), &Value::Null, 204);
    }
    let late = client.json("POST", exec, &json!({"argv": ["sleep", "60"], "timeout": "100ms"}), 200);
    assert_eq!(late["timedOut"], true);
    let mount = json!({"argv": ["ls"], "sandbox": {"mounts": [{"from": "/usr/share", "to": "/x"}]}});
    assert_eq!(client.json("POST", "/v1/exec", &mount, 403)["code"], "FS_DENIED");
    let all = client.json("GET", "/v1/sandboxes", &Value::Null, 200);
    assert_eq!(all["sandboxes"].as_array().map(Vec::len), Some(2));
    for sandbox in ["job", "two"] {
        client.json("DELETE", &format!("/v1/sandboxes/{sandbox}"), &Value::Null, 204);
    }
    client.json("GET", "/v1/sandboxes/job", &Value::Null, 404);
    server.end();
}

#[test]
fn the_sandboxes_of_another_key_are_not_there() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let server = Serving::start(&program, &[]);
    let (mine, theirs) = (Client::new(&program, &server, "mine"), Client::new(&program, &server, "theirs"));
    let made = mine.json("POST", "/v1/sandboxes", &json!({"name": "job"}), 201);
    let id = made["id"].as_str().unwrap();
    let exec = json!({"argv": ["id"]});
    for sandbox in ["job", id, &id[..8]] {
        let at = format!("/v1/sandboxes/{sandbox}");
        theirs.json("GET", &at, &Value::Null, 404);
        theirs.json("DELETE", &at, &Value::Null, 404);
        theirs.json("POST", &format!("{at}/exec"), &exec, 404);
        theirs.json("GET", &format!("{at}/files?path=/etc/passwd"), &Value::Null, 404);
        theirs.json("PUT", &format!("{at}/files?path=/work/a"), &exec, 404);
        for what in ["snapshot", "hibernate", "resume", "stop", "fork"] {
            theirs.json("POST", &format!("{at}/{what}"), &json!({}), 404);
        }
        assert_eq!(theirs.terminal(sandbox).err(), Some(404));
        mine.json("GET", &at, &Value::Null, 200);
    }
    let taken = mine.json("POST", "/v1/sandboxes/job/snapshot", &Value::Null, 201);
    let snapshot = taken["id"].as_str().unwrap();
    theirs.json("DELETE", &format!("/v1/snapshots/{snapshot}"), &Value::Null, 404);
    theirs.json("POST", "/v1/sandboxes", &json!({"snapshot": snapshot}), 404);
    for list in ["/v1/sandboxes", "/v1/snapshots"] {
        let all = theirs.json("GET", list, &Value::Null, 200);
        assert_eq!(all["sandboxes"].as_array().or(all["snapshots"].as_array()).map(Vec::len), Some(0));
    }
    server.end();
}

#[test]
fn whoever_goes_away_over_http_ends_their_command_and_not_the_sandbox() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let server = Serving::start(&program, &[]);
    let client = Client::new(&program, &server, "agent");
    client.json("POST", "/v1/sandboxes", &json!({"name": "job", "preset": "dev"}), 201);
    let mark = mark(1);
    let sleeps = json!({"shell": format!("echo begun; sleep {mark} & sleep {mark}"), "timeout": "5m"});
    // As events, then with one answer, then at a terminal.
    let stream = client.begin("/v1/sandboxes/job/exec?stream", &sleeps, "begun");
    assert!(marked(&mark) >= 2);
    drop(stream);
    ends(&mark);
    let stream = client.send("POST", "/v1/sandboxes/job/exec", sleeps.to_string().as_bytes());
    while marked(&mark) < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stream);
    ends(&mark);
    let mut terminal = client.terminal("job").unwrap();
    terminal.say(&json!({"start": {"shell": format!("sleep {mark} & echo begun; sleep {mark}")}}));
    terminal.sees("begun");
    drop(terminal);
    ends(&mark);
    let ran = client.json("POST", "/v1/sandboxes/job/exec", &json!({"argv": ["echo", "still"]}), 200);
    assert_eq!(ran["stdout"], "still\n");
    server.end();
}

#[test]
fn a_terminal_over_a_websocket_is_a_terminal() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let server = Serving::start(&program, &[]);
    let client = Client::new(&program, &server, "agent");
    client.json("POST", "/v1/sandboxes", &json!({"name": "job", "preset": "dev"}), 201);
    let mut terminal = client.terminal("job").unwrap();
    terminal.say(
        &json!({"start": {"argv": ["sh"], "terminal": {"rows": 5, "columns": 70}, "env": {"PS1": "> "}}}),
    );
    terminal.sees("> ");
    terminal.types("tty && stty size\r");
    terminal.sees("/dev/pts/");
    terminal.sees("5 70");
    terminal.say(&json!({"resize": {"rows": 50, "columns": 120}}));
    terminal.types("stty size; echo seen$((1+1))\r");
    terminal.sees("50 120");
    terminal.sees("seen2");
    // Ctrl-C ends what runs, and not the shell.
    let mark = mark(2);
    terminal.types(&format!("echo wait$((1+1)); sleep {mark}\r"));
    terminal.sees("wait2");
    while marked(&mark) == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    terminal.types("\x03");
    terminal.types("echo after$((1+1))\r");
    terminal.sees("after2");
    ends(&mark);
    terminal.types("exit 9\r");
    let end = terminal.ends();
    assert_eq!(end["result"]["exitCode"], 9, "{end:#}");
    // A signal goes to the command itself.
    let mut terminal = client.terminal("job").unwrap();
    terminal.say(&json!({"start": {"shell": "trap 'echo caught; exit 3' TERM; echo begun; while :; do sleep 0.1; done"}}));
    terminal.sees("begun");
    terminal.say(&json!({"signal": "SIGTERM"}));
    terminal.sees("caught");
    assert_eq!(terminal.ends()["result"]["exitCode"], 3);
    server.end();
}

#[test]
fn nothing_of_a_sandbox_is_left_when_the_server_ends() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick();
    let server = Serving::start(&program, &["--set", "server.grace=1s"]);
    let client = Client::new(&program, &server, "agent");
    client.json("POST", "/v1/sandboxes", &json!({"name": "job", "preset": "dev"}), 201);
    let mark = mark(3);
    let sleeps = json!({"shell": format!("echo begun; sleep {mark}"), "timeout": "5m"});
    let _stream = client.begin("/v1/sandboxes/job/exec?stream", &sleeps, "begun");
    let mut terminal = client.terminal("job").unwrap();
    terminal.say(&json!({"start": {"shell": format!("echo begun; sleep {mark}")}}));
    terminal.sees("begun");
    let _fresh = client.begin("/v1/exec?stream", &sleeps, "begun");
    assert!(marked(&mark) >= 3);
    server.end();
    assert_eq!(marked(&mark), 0);
    assert_eq!(terminal.ends()["error"]["code"], "UNAVAILABLE");
}

#[test]
fn commands_of_this_program_use_the_sandboxes_of_a_server() {
    requires!("sandboxes", has_sandboxes());
    let program = bailiwick().with_file("inside/x", "one\n");
    let server = Serving::start(&program, &[]);
    let client = program.with_variable("BAILIWICK_SERVER", server.address());
    assert_eq!(run(&client, &["-q", "exec", "--", "echo", "there"], 0).stdout, "there\n");
    run(&client, &["-q", "exec", "--", "sh", "-c", "exit 9"], 9);
    let counted = client.run_with_input(&["-q", "exec", "--", "wc", "-c"], &"y".repeat(100_000));
    assert_eq!(counted.stdout.trim(), "100000", "{}", counted.stderr);
    run(&client, &["-q", "sandbox", "create", "--name", "job"], 0);
    run(&client, &["sandbox", "cp", "inside", "job:/work/"], 0);
    assert_eq!(run(&client, &["sandbox", "exec", "job", "--", "cat", "inside/x"], 0).stdout, "one\n");
    let said = run(&client, &["sandbox", "exec", "job", "--json", "--", "cat", "inside/x"], 0).stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["stdout"], "one\n");
    run(&client, &["sandbox", "cp", "job:/work/inside", "back"], 0);
    let listed: Value = serde_json::from_str(&run(&client, &["sandbox", "ls", "--json"], 0).stdout).unwrap();
    assert_eq!(listed["sandboxes"].as_array().map(Vec::len), Some(1));
    let terminal = client.run(&["sandbox", "exec", "-t", "job", "--", "tty"]);
    assert_eq!(terminal.code, Some(125), "{}", terminal.stderr);
    assert!(terminal.stderr.contains("WebSocket"), "{}", terminal.stderr);
    run(&client, &["sandbox", "rm", "job"], 0);
    run(&client, &["sandbox", "show", "job"], 2);
    server.end();
}
