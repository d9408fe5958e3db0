//! Runs a program with an empty environment, a home and a working folder of its own.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Running;
use crate::netns::Netns;

/// A program and the machine it believes to be on.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    machine: tempfile::TempDir,
    variables: Vec<(String, String)>,
    network: Option<Netns>,
    front: Vec<String>,
    is_nobodys: bool,
}

/// Whom the kernel and everybody else take for nobody.
const NOBODY: u32 = 65534;
/// What makes a program nobody's.
const BECOME_NOBODY: [&str; 4] = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// What one run gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Program {
    /// A fresh machine for the program at this path.
    ///
    /// # Panics
    /// When the machine cannot be set up; a test cannot go on then.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let machine = tempfile::tempdir().expect("a temporary folder");
        for folder in ["home", "work"] {
            std::fs::create_dir(machine.path().join(folder)).expect("a folder of the machine");
        }
        Self {
            path: path.into(),
            machine,
            variables: Vec::new(),
            network: None,
            front: Vec::new(),
            is_nobodys: false,
        }
    }

    /// Sets an environment variable for all runs.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gives each run a network of its own.
    #[must_use]
    pub fn within(mut self, network: &Netns) -> Self {
        self.network = Some(network.clone());
        self
    }

    /// With these words in front of the program: something that starts it.
    #[must_use]
    pub fn behind(mut self, words: &[String]) -> Self {
        self.front.extend_from_slice(words);
        self
    }

    /// As nobody from now on: the machine belongs to that user, and scripts and runs are theirs. The program has to be
    /// within reach of it: [`reachable_by_nobody`].
    ///
    /// # Panics
    /// When the machine cannot be given away: only root can.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn by_nobody(mut self) -> Self {
        let mut open = vec![self.machine.path().to_owned()];
        while let Some(path) = open.pop() {
            std::os::unix::fs::lchown(&path, Some(NOBODY), Some(NOBODY)).expect("root gives it away");
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).expect("a folder of the machine");
                open.extend(entries.map(|entry| entry.expect("a file of the machine").path()));
            }
        }
        self.front.splice(0..0, BECOME_NOBODY.map(str::to_owned));
        self.is_nobodys = true;
        self
    }

    /// The working folder.
    pub fn working_folder(&self) -> PathBuf {
        self.machine.path().join("work")
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.machine.path().join("home")
    }

    /// Puts a file into the working folder.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn with_file(self, name: &str, text: &str) -> Self {
        self.with_bytes(name, text.as_bytes())
    }

    /// Puts a file that is no text into the working folder.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn with_bytes(self, name: &str, bytes: &[u8]) -> Self {
        write(&self.working_folder().join(name), bytes);
        self
    }

    /// Puts a file into the home folder.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn with_home_file(self, name: &str, text: &str) -> Self {
        write(&self.home().join(name), text.as_bytes());
        self
    }

    /// Runs it.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_with_input(arguments, "")
    }

    /// Runs a script of the working folder there, if it is there; gives what it said when it failed.
    ///
    /// # Panics
    /// When there is no shell.
    #[expect(
        clippy::disallowed_methods,
        reason = "scripts that set the stage are started here and nowhere else"
    )]
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub(crate) fn run_script(&self, name: &str) -> Option<String> {
        if !self.working_folder().join(name).exists() {
            return None;
        }
        let mut words =
            self.is_nobodys.then_some(BECOME_NOBODY).into_iter().flatten().chain(["/bin/sh", "-e", name]);
        let output = Command::new(words.next().expect("a script has a shell"))
            .args(words)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("PROGRAM", &self.path)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.working_folder())
            .stdin(Stdio::null())
            .output()
            .expect("a shell starts");
        let said = || String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (!output.status.success()).then(said)
    }

    /// Starts it beside the test, on pipes.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::on_pipes(self.command(arguments))
    }

    /// Starts it beside the test, at a terminal of its own.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start_at_a_terminal(&self, arguments: &[&str]) -> Running {
        Running::at_a_terminal(self.command(arguments))
    }

    #[expect(clippy::disallowed_methods, reason = "the program under test is started here and nowhere else")]
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut words = self.network.as_ref().map(Netns::wrapper).unwrap_or_default();
        words.extend(self.front.iter().map(OsString::from));
        words.push(self.path.clone().into());
        words.extend(arguments.iter().map(OsString::from));
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().expect("a program has a name"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.home())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.working_folder());
        command
    }

    /// Runs it with a text on stdin.
    ///
    /// # Panics
    /// When it cannot be started.
    #[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        if let Some(mut stdin) = child.stdin.take() {
            // The program may well end without reading it.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output().expect("the program ends");
        let machine = self.machine.path().canonicalize().expect("the machine is there");
        // Temporary folders have another name each time.
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .replace(&machine.display().to_string(), "[MACHINE]")
                .replace(&self.machine.path().display().to_string(), "[MACHINE]")
        };
        Run { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

/// A copy of a program where nobody can run it, and the folder that it is in.
///
/// # Panics
/// When there is no room for it.
#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
pub(crate) fn reachable_by_nobody(program: &Path) -> (tempfile::TempDir, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("a folder for everybody");
    let copy = folder.path().join(program.file_name().expect("a program has a name"));
    // Another name for it is enough where both are on one disk.
    if std::fs::hard_link(program, &copy).is_err() {
        std::fs::copy(program, &copy).expect("a copy of the program");
    }
    (folder, copy)
}

#[expect(clippy::disallowed_methods, reason = "files of a test's own machine")]
#[expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
fn write(path: &Path, bytes: &[u8]) {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).expect("a folder of the machine");
    }
    // Whoever watches the file sees it as it was or as it will be, and never half of it.
    let beside = path.with_extension("being-written");
    std::fs::write(&beside, bytes).expect("a file of the machine");
    std::fs::rename(&beside, path).expect("a file of the machine");
}
