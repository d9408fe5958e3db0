//! The world of `specs/commands/egress`: the network of commands, as `egress` pretends it; tools in it, and the same attacks where
//! nothing stops them. Those on every backend are in `matrix`.
//!
//! What servers have for git and pip is made by `specs/commands/stock.sh`. Names that only somebody who tells a secret asks
//! for have `exfil` in them, a socket listens for datagrams that nobody may send, and the operator's proxy is asked for one
//! host: all of that is looked at in the end.
#![expect(clippy::disallowed_types, reason = "a socket of a pretended network, at which nothing should come")]
#![expect(clippy::indexing_slicing, reason = "what is not in a report is `null`")]

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use bailiwick_testkit::authority::Authority;
use bailiwick_testkit::dns::FakeDns;
use bailiwick_testkit::forge::Forge;
use bailiwick_testkit::proxy::{Proxy, Setup};
use bailiwick_testkit::routes::Routes;
use bailiwick_testkit::upstream::{Answer, Request, Upstream};
use bailiwick_testkit::{Group, Prepared, Program, Specs, has, hollow, tests};
use serde_json::{Value, json};

use crate::network::{NAME_SERVER, PUBLIC, answer, at, names, servers, world};
use crate::{bailiwick, specs, wins};

/// What every attack in Python begins with.
const PREAMBLES: [&str; 2] = [
    include_str!("../../../../specs/commands/attempt.py"),
    include_str!("../../../../specs/commands/network.py"),
];

/// Variables by which programs learn whom to believe.
const BELIEVED: [&str; 6] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
];

/// What every spec of git begins with.
const GIT: &str = include_str!("../../../../specs/commands/git.sh");

/// Hosts that only one case each sends large packs to: over the proxy and without it, and both with an authority.
const CARRIED: [&str; 4] = ["public.test", "sub.public.test", "a.b.public.test", "xn--bcher-kva.test"];

/// Whether such a network can be made here, with the programs that use it.
pub(crate) fn has_world() -> bool {
    has("commands", has_programs()) && has("root", hollow::is_possible())
}

/// Whether the machine has the programs whose network it is about.
fn has_programs() -> bool {
    ["python3", "git", "curl", "node", "pip3"].iter().all(|name| Path::new("/usr/bin").join(name).exists())
}

/// The pretended world, as long as this lives.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    authority: Authority,
    names: FakeDns,
    servers: Vec<Upstream>,
    /// The operator's, which leads to one host.
    proxy: Proxy,
    datagrams: std::net::UdpSocket,
}

impl Stage {
    #[expect(clippy::disallowed_methods, reason = "files and programs of a test's own")]
    #[expect(clippy::unwrap_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let stock = folder.path().join("stock");
        std::fs::create_dir(&stock).unwrap();
        let made = Command::new("/bin/sh").arg(specs("commands/stock.sh")).arg(&stock).status().unwrap();
        assert!(made.success(), "what the servers have could not be made");
        let authority = Authority::new();
        std::fs::write(folder.path().join("authority.pem"), authority.pem()).unwrap();
        let names = FakeDns::listen(SocketAddr::new(IpAddr::V4(NAME_SERVER), 53), names());
        let (stock, forge) = (Arc::new(stock.clone()), Forge::new(&stock));
        let answers = move |request: &Request| match request.path() {
            path if path.starts_with("/team/") => forge.answer(request),
            "/weigh" => weighed(request),
            _ => file(&stock, request).unwrap_or_else(|| answer(request)),
        };
        let servers = servers(&authority, &answers);
        let proxied = Setup::new(Routes::new())
            .authority("proxied.test:80", at(PUBLIC, 80))
            .authority("proxied.test:443", at(PUBLIC, 443));
        let proxy = Proxy::listen(at("127.0.0.1", 3129), proxied);
        let datagrams = std::net::UdpSocket::bind(at(PUBLIC, 4242)).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        Self { folder, authority, names, servers, proxy, datagrams }
    }

    fn roots(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// Settings by which the servers are believed.
    pub(crate) fn settings(&self) -> String {
        format!("[fetch]\nroots = [\"{}\"]\n", self.roots().display())
    }

    /// The cases, for a program.
    pub(crate) fn cases(&self, program: &Path) -> Specs {
        let settings = self.settings();
        Specs::new(program, &specs("commands/egress"))
            .preamble(&PREAMBLES.concat())
            .home_file(".config/bailiwick/bailiwick.toml", &settings)
            .home_file("authority.pem", self.authority.pem())
            .home_file("git.sh", GIT)
    }

    /// Which of git's ways to speak did not come to a host by any of the ways out.
    pub(crate) fn unheard(&self) -> Vec<String> {
        let kinds: [(&str, &str, &str, &str); 4] = [
            ("wants that are packed", "/git-upload-pack", "content-encoding", "gzip"),
            ("version 2", "/git-upload-pack", "git-protocol", "version=2"),
            ("a push in chunks", "/git-receive-pack", "transfer-encoding", "chunked"),
            ("a body that waits", "/weigh", "expect", "100-continue"),
        ];
        let came: Vec<Request> = self.servers.iter().flat_map(Upstream::requests).collect();
        let is_heard = |host: &str, (_, path, name, value): &(&str, &str, &str, &str)| {
            came.iter().any(|request| {
                let sni = request.tls.as_ref().and_then(|tls| tls.sni.as_deref());
                sni == Some(host) && request.path().ends_with(path) && request.header(name) == Some(value)
            })
        };
        CARRIED
            .into_iter()
            .flat_map(|host| {
                kinds.iter().filter(move |kind| !is_heard(host, kind)).map(move |kind| (host, kind))
            })
            .map(|(host, (what, ..))| format!("{what} of {host}"))
            .collect()
    }

    /// What was told to the world that nobody may tell it.
    pub(crate) fn leaks(&self) -> Vec<String> {
        let mut leaks: Vec<String> =
            self.names.asked().into_iter().filter(|name| name.contains("exfil")).collect();
        let asked = self.proxy.authorities();
        leaks.extend(asked.into_iter().filter(|authority| !authority.starts_with("proxied.test:")));
        let mut datagram = [0; 64];
        while let Ok(length) = self.datagrams.recv(&mut datagram) {
            leaks.push(String::from_utf8_lossy(datagram.get(..length).unwrap_or_default()).into_owned());
        }
        leaks
    }
}

/// How much came, and what its bytes come to.
fn weighed(request: &Request) -> Answer {
    let sum: u64 = request.body.iter().copied().map(u64::from).sum();
    Answer::ok(format!("{} {sum}\n", request.body.len()))
}

/// A file of the stock; a folder is its index.
#[expect(clippy::disallowed_methods, reason = "files of a test's own")]
fn file(stock: &Path, request: &Request) -> Option<Answer> {
    let path = request.path().trim_start_matches('/');
    if path.is_empty() || path.contains("..") {
        return None;
    }
    let path = stock.join(path);
    let path = if path.is_dir() { path.join("index.html") } else { path };
    let kind = if path.extension().is_some_and(|extension| extension == "html") {
        "text/html"
    } else {
        "application/octet-stream"
    };
    std::fs::read(path).ok().map(|bytes| Answer::new(200).header("content-type", kind).body(bytes))
}

/// A tool in Python and one of a program, each with a secret that is sealed for one of the hosts they reach.
const SEALED_TOOLS: [(&str, &str); 2] = [
    (
        "script.tool.yaml",
        "name: script
description: Asks hosts whether the value came.
statics: [{name: GH, value: \"${GH}\", sealed: {hosts: [public.test], in: \"header:Authorization\"}}]
command:
  language: python
  network: {allow: [public.test, other.test]}
  script: |
    import os, urllib.error, urllib.request
    def ask(host, path):
        request = urllib.request.Request(f'https://{host}{path}', headers={'Authorization': GH})
        try:
            return urllib.request.urlopen(request).read().decode()
        except urllib.error.HTTPError as refused:
            return f'{refused.code} {refused.read().decode()}'
    print('has', GH)
    inside = [GH == os.environ['GH'], GH.startswith('sealed-'), '16C7e42F292c6912E7' in str(os.environ)]
    return {'inside': inside, 'home': ask('public.test', '/knows'), 'echo': ask('public.test', '/echo'),
            'elsewhere': ask('other.test', '/knows')}
",
    ),
    (
        "program.tool.yaml",
        "name: program
description: Asks a host whether the value came.
statics: [{name: GH, value: \"${GH}\", sealed: {hosts: [public.test], in: \"header:Authorization\"}}]
command:
  argv: [sh, -c, 'env >&2; exec curl -sS -H \"Authorization: $GH\" https://public.test/knows']
  network: {allow: [public.test]}
",
    ),
];

/// What a run of the program gave, which ended well.
#[track_caller]
fn done(program: &Program, arguments: &[&str], input: &str) -> String {
    let run = program.run_with_input(arguments, input);
    assert_eq!(run.code, Some(0), "{arguments:?}: {}{}", run.stdout, run.stderr);
    run.stdout
}

tests!(a_sealed_static_of_a_tool_arrives_and_is_never_inside);

fn a_sealed_static_of_a_tool_arrives_and_is_never_inside() {
    const VALUE: &str = "ghp_16C7e42F292c6912E7";
    if !has_world() {
        return;
    }
    world().run(|| {
        let stage = Stage::new();
        let settings = stage.settings();
        let program = SEALED_TOOLS
            .iter()
            .fold(Program::new(bailiwick()), |program, (name, text)| program.with_file(name, text))
            .with_home_file(".config/bailiwick/bailiwick.toml", &settings);
        done(&program, &["secret", "set", "GH"], VALUE);
        // Nothing of it is lent before the operator opts in.
        let run = program.run(&["tool", "check", "program.tool.yaml"]);
        assert_ne!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("sandbox.authority = true"), "{}{}", run.stdout, run.stderr);
        let program = program.with_home_file(
            ".config/bailiwick/bailiwick.toml",
            &format!("{settings}\n[sandbox]\nauthority = true\n"),
        );
        let called = |name: &str| -> Value {
            let said = done(&program, &["tool", "call", name, "--yes", "--json"], "");
            assert!(!said.contains(VALUE), "{said}");
            serde_json::from_str(&said).unwrap_or_default()
        };
        for (file, _) in SEALED_TOOLS {
            let name = file.trim_end_matches(".tool.yaml");
            done(&program, &["tool", "import", file], "");
            done(&program, &["tool", "test", name, "--live"], "");
            done(&program, &["tool", "publish", name], "");
        }
        let report = called("script");
        let value = &report["value"];
        assert_eq!(value["inside"], json!([true, true, false]), "{report}");
        assert_eq!(value["home"], "the value came", "{report}");
        assert!(value["echo"].as_str().is_some_and(|echo| echo.contains("authorization=***")), "{report}");
        assert!(value["elsewhere"].as_str().is_some_and(|told| told.starts_with("403 ")), "{report}");
        let walls = report["receipt"]["walls"].as_array().cloned().unwrap_or_default();
        let wall = walls.iter().find(|wall| wall["demand"] == "sealed secrets");
        assert_eq!(wall.map(|wall| wall["status"].clone()), Some(json!("enforced")), "{report}");
        assert_eq!(called("program")["value"], "the value came");
        let record = done(&program, &["audit", "tail", "-n", "100", "--json"], "");
        assert!(!record.contains(VALUE) && record.contains("header:Authorization"), "{record}");
        assert_eq!(stage.leaks(), [""; 0]);
    });
}

/// A proxy without a guard, as long as this lives.
struct Unguarded(Child);

impl Unguarded {
    #[expect(clippy::disallowed_methods, reason = "a program of the tests, in a pretended network")]
    #[expect(clippy::unwrap_used, reason = "a test fixture that cannot be made ends its test")]
    fn start() -> Self {
        let mut proxy = Command::new(specs("hollow/proxy"));
        proxy.env_clear().env("BAILIWICK_TEST_HOLLOW", "in its box");
        let mut child = proxy.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "listens\n");
        Self(child)
    }
}

impl Drop for Unguarded {
    #[expect(clippy::unwrap_used, reason = "a test fixture that does not end is a failure of its test")]
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// The cases where nothing stops them.
struct WithoutWalls {
    cases: Specs,
    stage: Stage,
    _proxy: Unguarded,
}

impl WithoutWalls {
    fn new() -> Self {
        let stage = Stage::new();
        let proxy = Unguarded::start();
        let roots = stage.roots().display().to_string();
        let cases = stage.cases(&specs("hollow/commands")).variable("BAILIWICK_TEST_HOLLOW", "in its box");
        let cases = BELIEVED.into_iter().fold(cases, |cases, name| cases.variable(name, &roots));
        Self { cases, stage, _proxy: proxy }
    }
}

impl Prepared for WithoutWalls {
    fn check(&self, case: &str) -> Result<(), String> {
        wins(case, self.cases.run_case(case))
    }

    /// Names and datagrams reach the world here: the fakes would have seen them.
    fn finish(&self, is_whole: bool) -> Result<(), String> {
        let leaks = self.stage.leaks();
        let is_told = |word: &str| leaks.iter().any(|leak| leak.contains(word));
        if is_whole && !(is_told("exfil") && is_told("datagram")) {
            return Err(format!("a name or a datagram did not arrive: {leaks:?}"));
        }
        Ok(())
    }
}

pub(crate) fn hollow() -> Group {
    let cases = Specs::new(&specs("hollow/commands"), &specs("commands/egress")).cases();
    Group::new("hollow::commands::egress", cases, || has_world().then(WithoutWalls::new))
        .within(world())
        .finished()
}
