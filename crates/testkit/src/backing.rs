//! What a backend has to have so that a row can use it: variables that let the program use it and no other, for `remote` a server
//! that has the backend `process`, and for `podman` an engine: it is the backend `container` with another one.

use std::path::Path;

use crate::engine::Own;
use crate::{Program, Serving, docker, has, run};

/// The variable that lists the backends which may be used.
const BACKENDS: &str = "BAILIWICK_SANDBOX_BACKENDS";
/// The variable that names the directory for results of probes.
const PROBES: &str = "BAILIWICK_SANDBOX_PROBE_CACHE";
/// The secret that the key of a server is kept as.
const KEY: &str = "KEY_OF_THE_OTHER";

/// The variable that names the socket of an engine.
const SOCKET: &str = "BAILIWICK_SANDBOX_CONTAINER_SOCKET";

/// A backend, as long as this lives.
#[derive(Debug)]
pub struct Backing {
    /// Variables for the program.
    pub variables: Vec<(String, String)>,
    server: Option<There>,
    _engine: Option<Own>,
    /// Where the cases, each with a data directory of its own, find the result of a probe.
    _probes: Option<tempfile::TempDir>,
}

/// A server on a machine of its own.
#[derive(Debug)]
struct There {
    _serving: Serving,
    program: Program,
}

/// What tests that need a backend say that they need.
fn part(backend: &str) -> &str {
    match backend {
        "container" => "docker",
        "microvm" => "qemu",
        // Where there is no `process` here, there is none on another machine of the tests.
        "remote" => "sandboxes",
        other => other,
    }
}

impl Backing {
    /// No backend: one that cannot be there.
    fn none() -> Self {
        Self::with("gvisor", [("BAILIWICK_SANDBOX_GVISOR_PROGRAM", "/nowhere/runsc".to_owned())])
    }

    fn with<const N: usize>(backend: &str, more: [(&str, String); N]) -> Self {
        let more = more.into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables = [(BACKENDS.to_owned(), backend.to_owned())].into_iter().chain(more).collect();
        Self { variables, server: None, _engine: None, _probes: None }
    }

    /// Programs that use this backend share the results of probes.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    fn with_shared_probes(mut self) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        self.variables.push((PROBES.to_owned(), directory.path().display().to_string()));
        Self { _probes: Some(directory), ..self }
    }

    /// The backend of this name, or none at all, if this machine has it. A server that is needed has these settings.
    pub fn of(program: &Path, backend: Option<&str>, settings: &str) -> Option<Self> {
        let Some(backend) = backend else { return Some(Self::none()) };
        let backing = match backend {
            "container" => {
                let socket = docker::socket();
                let socket = has(part(backend), socket.is_some()).then_some(socket)??;
                Self::with("container", [(SOCKET, socket.display().to_string())]).with_shared_probes()
            }
            "podman" => {
                let engine = Own::podman()?;
                let socket = engine.socket.display().to_string();
                Self {
                    _engine: Some(engine),
                    ..Self::with("container", [(SOCKET, socket)]).with_shared_probes()
                }
            }
            "microvm" => {
                let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/microvm/boot");
                let kernel = if own.is_dir() { own } else { "/boot".into() };
                let ready = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/machines");
                let more = [
                    // Whether KVM works here or not, machines are there.
                    ("BAILIWICK_SANDBOX_MICROVM_EMULATION", "true".to_owned()),
                    ("BAILIWICK_SANDBOX_MICROVM_KERNEL", kernel.display().to_string()),
                    // All of them start the same kernel, and only the first does.
                    ("BAILIWICK_SANDBOX_MICROVM_CACHE", ready.display().to_string()),
                ];
                Self::with(backend, more)
            }
            "remote" => Self::remote(program, settings),
            "gvisor" => Self::with(backend, []).with_shared_probes(),
            _ => Self::with(backend, []),
        };
        // Everything else here needs `process` too, and says so by another name. WebAssembly runs nothing that these cases have.
        let stands = matches!(backend, "process" | "wasm") || backing.stands(program);
        has(part(backend), stands).then_some(backing)
    }

    /// Another server, with its key in a variable of the environment.
    fn remote(program: &Path, settings: &str) -> Self {
        let there = Program::new(program).with_home_file(".config/bailiwick/bailiwick.toml", settings);
        let serving = Serving::start(&there, &[]);
        let key = run(&there, &["-q", "key", "create", "matrix", "--scope", "author"], 0).stdout;
        let more = [
            ("BAILIWICK_SANDBOX_REMOTE_URL", serving.address().to_owned()),
            ("BAILIWICK_SANDBOX_REMOTE_KEY", KEY.to_owned()),
            ("BAILIWICK_SECRETS_ENV", KEY.to_owned()),
            (KEY, key.trim().to_owned()),
        ];
        let server = Some(There { _serving: serving, program: there });
        Self { server, ..Self::with("remote", more) }
    }

    /// The socket of the engine that makes the sandboxes, where one does.
    pub fn socket(&self) -> Option<&str> {
        self.variables.iter().find(|(name, _)| name == SOCKET).map(|(_, socket)| socket.as_str())
    }

    /// The program of the server, whose images are those that count.
    pub fn server(&self) -> Option<&Program> {
        self.server.as_ref().map(|there| &there.program)
    }

    /// Whether a sandbox was seen to stand here.
    fn stands(&self, program: &Path) -> bool {
        let program = self
            .variables
            .iter()
            .fold(Program::new(program), |program, (name, value)| program.with_variable(name, value));
        program.run(&["exec", "--", "/bin/true"]).code == Some(0)
    }
}
