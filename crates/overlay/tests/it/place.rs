//! A folder of the host and what a sandbox makes of it, by a shell behind a real mount.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use bailiwick_overlay::{
    Baseline, Bounds, Change, Changes, Commit, Committed, Fault, Host, Journals, LinksOut, Moment, RelPath,
    Selection, View, What,
};
use tempfile::TempDir;

/// A folder of the host, and beside it what a sandbox left.
pub(crate) struct Place {
    disk: TempDir,
    memory: TempDir,
    pub(crate) began: Option<Moment>,
}

/// What is at a path: a kind, a mode, and content or where it leads.
pub(crate) type Tree = BTreeMap<String, (char, u32, Vec<u8>)>;

const MOUNT: &str = r#"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work,userxattr" "$2/merged" || exit 99
(cd "$2/merged" && umask 022 && eval "$3") || exit 98
rm -rf "$2/seen" && mkdir "$2/seen" && cp -a "$2/merged/." "$2/seen/" || exit 97
"#;

impl Place {
    /// A folder made by a shell.
    pub(crate) fn new(make: &str) -> Self {
        let disk = tempfile::tempdir().expect("a folder");
        let memory = in_memory();
        for name in ["lower", "journals"] {
            std::fs::create_dir(disk.path().join(name)).expect("a folder");
        }
        for name in ["upper", "work", "merged", "seen"] {
            std::fs::create_dir(memory.path().join(name)).expect("a folder");
        }
        let place = Self { disk, memory, began: None };
        place.on_the_host(make);
        place
    }

    /// A folder as many tests want it.
    pub(crate) fn usual() -> Self {
        Self::new(
            "printf 'one\\ntwo\\n' > a; printf 'run\\n' > b; chmod 755 b; mkdir -p d/e z; printf x > d/x
             printf y > d/y; printf deep > d/e/f; ln -s a l; printf more > more",
        )
    }

    pub(crate) fn lower(&self) -> PathBuf {
        self.disk.path().join("lower")
    }

    pub(crate) fn upper(&self) -> PathBuf {
        self.memory.path().join("upper")
    }

    pub(crate) fn journals_path(&self) -> PathBuf {
        self.disk.path().join("journals")
    }

    pub(crate) fn journals(&self) -> Journals {
        Journals::open(&self.journals_path()).expect("journals")
    }

    /// What a person does in the folder.
    #[track_caller]
    pub(crate) fn on_the_host(&self, script: &str) {
        shell(&self.lower(), script);
    }

    /// The sandbox begins: after everything that was done so far, also by a clock that moves in ticks.
    pub(crate) fn begin(&mut self) -> Moment {
        // A stamp can be finer than the clock of ticks, and that clock can be late by more than one of them.
        let now = bailiwick_sys::clock::realtime();
        let now =
            Moment { seconds: i64::try_from(now.as_secs()).expect("a time"), nanos: now.subsec_nanos() };
        while Moment::now() <= now {
            std::thread::yield_now();
        }
        *self.began.get_or_insert_with(Moment::now)
    }

    /// The sandbox does something, behind a real mount.
    #[track_caller]
    pub(crate) fn inside(&mut self, script: &str) {
        self.begin();
        let mut command = Command::new("unshare");
        command.args(way().expect("overlayfs")).args(["--", "sh", "-c", MOUNT, "mount"]);
        command.arg(self.lower()).arg(self.memory.path()).arg(script);
        let output = command.stdin(Stdio::null()).output().expect("unshare runs");
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }

    /// The view, from now on.
    pub(crate) fn view(&mut self) -> View {
        let began = self.begin();
        let host = Host::open(&self.lower()).expect("the folder");
        View::new(host, self.upper_fd(), Baseline::at(began))
    }

    pub(crate) fn upper_fd(&self) -> OwnedFd {
        std::fs::File::open(self.upper()).expect("the folder on top").into()
    }

    /// What the sandbox saw at the end.
    pub(crate) fn seen(&self) -> Tree {
        tree(&self.memory.path().join("seen"))
    }

    pub(crate) fn host_tree(&self) -> Tree {
        tree(&self.lower())
    }
}

/// Whether such mounts can be made here, as `requires!("overlayfs", ...)` wants to know.
pub(crate) fn is_possible() -> bool {
    way().is_some()
}

/// `unshare`'s flags that work here: those of anybody, else those of root.
pub(crate) fn way() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [&["--user", "--map-root-user", "--mount"], &["--mount"]];
    static WAY: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    *WAY.get_or_init(|| {
        WAYS.into_iter().find(|flags| {
            let (disk, memory) = (tempfile::tempdir().expect("a folder"), in_memory());
            for name in ["upper", "work", "merged", "seen"] {
                std::fs::create_dir(memory.path().join(name)).expect("a folder");
            }
            std::fs::create_dir(disk.path().join("d")).expect("a folder");
            let mut command = Command::new("unshare");
            // A folder that is made anew needs attributes, which not every file system in memory has.
            command.args(*flags).args(["--", "sh", "-c", MOUNT, "mount"]).arg(disk.path()).arg(memory.path());
            command.arg("rmdir d && mkdir d").stdin(Stdio::null());
            command.output().is_ok_and(|output| output.status.success())
        })
    })
}

/// Where the kernel keeps files in memory, as a sandbox's own are kept; else wherever files are.
fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

#[track_caller]
pub(crate) fn shell(folder: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", &format!("umask 022; {script}")]).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "`{script}`: {}", String::from_utf8_lossy(&output.stderr));
}

/// Everything in a folder.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("beneath").to_string_lossy().into_owned();
            let data = std::fs::symlink_metadata(&path).expect("there");
            let mode = data.permissions().mode() & 0o7777;
            if data.is_symlink() {
                let target = std::fs::read_link(&path).expect("a link").into_os_string();
                found.insert(name, ('l', 0o777, target.into_encoded_bytes()));
            } else if data.is_dir() {
                found.insert(name, ('d', mode, Vec::new()));
                open.push(path);
            } else if data.is_file() {
                found.insert(name, ('f', mode, std::fs::read(&path).expect("readable")));
            }
        }
    }
    found
}

/// Every stamp and number of a folder that a write would move.
pub(crate) fn stamps(folder: &Path) -> Vec<(PathBuf, u64, i64, i64, i64, i64)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let data = std::fs::symlink_metadata(&path).expect("there");
        if data.is_dir() {
            open.extend(
                std::fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
        }
        found.push((path, data.ino(), data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec()));
    }
    found.sort();
    found
}

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::parse(text).expect("a path")
}

pub(crate) fn paths(all: &[&str]) -> Selection {
    Selection::Paths(all.iter().map(|one| path(one)).collect())
}

pub(crate) fn changes(view: &View) -> Changes {
    view.changes(&Selection::All, Bounds::default()).expect("changes")
}

/// Changes in short: a sign and a path each.
pub(crate) fn short(changes: &[Change]) -> String {
    let one = |change: &Change| {
        let sign = match change.what {
            What::Added => "A",
            What::Removed => "D",
            What::Changed => "M",
            What::ModeChanged => "m",
            What::TypeChanged => "T",
        };
        format!("{sign} {}", change.path)
    };
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(crate) fn commit(view: &mut View, place: &Place, selection: Selection) -> Result<Committed, Fault> {
    let commit = Commit { selection, links_out: LinksOut::Write, ..Commit::default() };
    view.commit(&commit, &place.journals(), &mut ())
}

/// What was refused, and why.
pub(crate) fn refused(result: Result<Committed, Fault>) -> String {
    match result {
        Err(Fault::Refused(changes)) => {
            let one = |change: &Change| format!("{} {:?}", change.path, change.findings);
            changes.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        other => panic!("it was not refused: {other:?}"),
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Folders that nobody may write to could not be taken away.
        for folder in [self.disk.path(), self.memory.path()] {
            let mut command = Command::new("chmod");
            let _ = command.args(["-R", "u+rwx", "."]).current_dir(folder).stderr(Stdio::null()).status();
        }
    }
}
