//! Engines of a test's own: a Docker, or a Podman service, each in a folder that goes with it. This machine's own are not touched.

#![expect(clippy::expect_used, reason = "a test fixture that cannot be made ends its test")]
#![expect(clippy::disallowed_methods, reason = "files and processes of an engine that the test has started")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::docker::answers;
use crate::has;

/// An engine that a test has started.
#[derive(Debug)]
pub struct Own {
    process: Child,
    /// Where it listens.
    pub socket: PathBuf,
    folder: Option<tempfile::TempDir>,
}

impl Own {
    fn start(mut command: Command, socket: PathBuf, folder: tempfile::TempDir) -> Self {
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        // Podman's helpers leave files where it was started.
        command.current_dir(folder.path());
        let process = command.spawn().expect("an engine");
        let own = Self { process, socket, folder: Some(folder) };
        own.wait();
        own
    }

    /// Waits until it answers.
    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !answers(&self.socket) {
            let folder = self.folder.as_ref().expect("a folder").path();
            let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the engine does not answer: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until Podman has tidied up behind its containers: that is done by processes of their own, which would make its folder again.
    fn wait_for_helpers(&self) {
        let Some(folder) = &self.folder else { return };
        let folder = folder.path().display().to_string();
        let is_helper = |entry: &std::fs::DirEntry| {
            let words = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            words.contains(&folder) && (words.contains("conmon") || words.contains("cleanup"))
        };
        let helpers = || std::fs::read_dir("/proc").expect("processes").flatten().filter(is_helper).count();
        let deadline = Instant::now() + Duration::from_secs(20);
        while helpers() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A Podman service of the test's own, if this machine can.
    ///
    /// # Panics
    /// When it cannot be started, or does not answer.
    pub fn podman() -> Option<Self> {
        let program = Path::new("/usr/bin/podman");
        if !has("podman", program.exists() && rustix::process::geteuid().is_root()) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("podman.sock");
        let mut command = Command::new(program);
        command
            .args(["--root", &folder.path().join("root").display().to_string()])
            .args(["--runroot", &folder.path().join("run").display().to_string()])
            .args(["--tmpdir", &folder.path().join("tmp").display().to_string()])
            .args(["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"])
            .args(["system", "service", "--time", "0"])
            .arg(format!("unix://{}", socket.display()));
        Some(Self::start(command, socket, folder))
    }

    /// A Docker of the test's own, with nothing in it, if this machine can.
    pub fn docker() -> Option<Self> {
        Self::docker_with("{}")
    }

    /// The same with these settings.
    ///
    /// # Panics
    /// When it cannot be started, or does not answer.
    pub fn docker_with(settings: &str) -> Option<Self> {
        let program = Path::new("/usr/sbin/dockerd");
        if !has("dockerd", program.exists() && rustix::process::geteuid().is_root()) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("docker.sock");
        // Not the machine's.
        std::fs::write(folder.path().join("settings.json"), settings).expect("settings");
        Some(Self::start(Self::command(program, folder.path()), socket, folder))
    }

    fn command(program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        let at = |name: &str| folder.join(name).display().to_string();
        command
            .args(["--config-file", &at("settings.json")])
            .args(["--host", &format!("unix://{}", at("docker.sock"))])
            .args(["--data-root", &at("data"), "--exec-root", &at("exec"), "--pidfile", &at("pid")])
            .args(["--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-masq=false"]);
        command
    }

    /// Kills it, as nobody asks for.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("reaped");
    }

    /// Starts a Docker that was killed again.
    ///
    /// # Panics
    /// When it does not start again.
    pub fn start_again(&mut self) {
        let folder = self.folder.as_ref().expect("a folder").path();
        // What it had started ends with it, but its number stays taken until somebody reaps it; a new one would wait for it.
        let helper = folder.join("exec/containerd/containerd.pid");
        let number = std::fs::read_to_string(&helper).expect("its helper's number");
        let is_alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_alive() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        // It left these behind.
        for left in ["docker.sock", "pid", "exec/containerd/containerd.pid"] {
            let _gone = std::fs::remove_file(folder.join(left));
        }
        let log = std::fs::File::create(folder.join("log")).expect("a log");
        self.process = Self::command(Path::new("/usr/sbin/dockerd"), folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("an engine");
        self.wait();
    }
}

/// Every process as its number, that of its parent, and its words.
fn processes() -> Vec<(i32, i32, String)> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let process = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let words = std::fs::read(entry.path().join("cmdline")).ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind its name, which may have anything in it: its state, then its parent.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent, String::from_utf8_lossy(&words).replace('\0', " ")))
    };
    entries.filter_map(process).collect()
}

/// The processes of an engine in this folder: those that have it among their words, and all that they have started.
fn of_folder(folder: &Path) -> Vec<i32> {
    let (all, folder) = (processes(), folder.display().to_string());
    let ourselves = i32::try_from(std::process::id()).expect("a number");
    let named = all.iter().filter(|(pid, _, words)| words.contains(&folder) && *pid != ourselves);
    let mut found: Vec<i32> = named.map(|(pid, ..)| *pid).collect();
    let mut looked = 0;
    while let Some(parent) = found.get(looked).copied() {
        let children = all.iter().filter(|(pid, above, _)| *above == parent && !found.contains(pid));
        let children: Vec<i32> = children.map(|(pid, ..)| *pid).collect();
        found.extend(children);
        looked += 1;
    }
    found
}

/// Ends what an engine left that has ended: Docker leaves what a start that failed has made of gVisor's, and one that was killed
/// leaves its containers.
fn end_all(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left = of_folder(folder);
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        for pid in left.into_iter().filter_map(rustix::process::Pid::from_raw) {
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Own {
    /// The processes that this engine started, by a part of their words.
    ///
    /// # Panics
    /// When processes cannot be looked at.
    pub fn started(&self, words: &str) -> usize {
        let folder = self.folder.as_ref().expect("a folder").path().display().to_string();
        processes().iter().filter(|(.., said)| said.contains(&folder) && said.contains(words)).count()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        self.wait_for_helpers();
        // Politely: what it started ends with it then.
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(20);
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
        let Some(folder) = self.folder.take() else { return };
        end_all(folder.path());
        // What it has mounted in there would keep the folder.
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let within = folder.path().display().to_string();
        let mut places: Vec<&str> = mounts
            .lines()
            .filter_map(|line| line.split(' ').nth(1))
            .filter(|at| at.starts_with(&within))
            .collect();
        places.reverse();
        for place in places {
            let _gone = rustix::mount::unmount(place, rustix::mount::UnmountFlags::DETACH);
        }
        let _left = folder.close();
    }
}
