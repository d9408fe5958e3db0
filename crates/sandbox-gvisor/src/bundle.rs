//! The bundle of a container: what `runsc` is told, as the runtime specification of OCI has it.

use std::path::Path;

use serde_json::{Value, json};

/// Something that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mounted {
    /// Something of the host's, by the gofer.
    Bind {
        /// What, on the host.
        from: String,
        /// Where.
        to: String,
        /// Whether it can be written to.
        writable: bool,
    },
    /// An empty file system in the sandbox's memory.
    Memory {
        /// Where.
        to: String,
        /// Its bytes.
        bytes: u64,
    },
}

/// The smallest file system in memory: nothing would mean "no bound".
const LEAST: u64 = 4096;

impl Mounted {
    fn told(&self) -> Value {
        match self {
            Self::Bind { from, to, writable } => {
                let access = if *writable { "rw" } else { "ro" };
                let options = ["rbind", access, "nosuid", "nodev"];
                json!({ "destination": to, "type": "bind", "source": from, "options": options })
            }
            Self::Memory { to, bytes } => {
                let size = format!("size={}", (*bytes).max(LEAST));
                let options = ["nosuid", "nodev", "mode=0755", &size];
                json!({ "destination": to, "type": "tmpfs", "source": "tmpfs", "options": options })
            }
        }
    }
}

/// What the first process may do until it has taken its place: lay folders over others, and become somebody else. All of it is
/// within the sandbox's own kernel, and given up before anything of a guest runs.
const BEGINS_WITH: [&str; 5] = ["CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_CHOWN", "CAP_SETPCAP"];

/// Resource limits that gVisor's kernel lets nobody set from inside.
const BOUNDS: [(&str, u64); 3] = [("RLIMIT_MSGQUEUE", 0), ("RLIMIT_RTPRIO", 0), ("RLIMIT_SIGPENDING", 4096)];

/// Where the agent is inside.
pub(crate) const AGENT: &str = "/.agent/program";

/// What `runsc` is told.
pub(crate) fn config(root: &Path, mounted: &[Mounted]) -> Value {
    let mut mounts = vec![json!({ "destination": "/proc", "type": "proc", "source": "proc" })];
    mounts.extend(mounted.iter().map(Mounted::told));
    let namespaces = ["pid", "network", "ipc", "uts", "mount"].map(|kind| json!({ "type": kind }));
    let rlimits = BOUNDS.map(|(kind, most)| json!({ "type": kind, "hard": most, "soft": most }));
    json!({
        "ociVersion": "1.0.0",
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": [AGENT],
            "env": [],
            "cwd": "/",
            "capabilities": {
                "bounding": BEGINS_WITH, "effective": BEGINS_WITH, "permitted": BEGINS_WITH, "inheritable": [], "ambient": [],
            },
            "noNewPrivileges": true,
            "rlimits": rlimits,
        },
        "root": { "path": root, "readonly": true },
        "hostname": "sandbox",
        "mounts": mounts,
        "linux": { "namespaces": namespaces },
    })
}
