//! Looking at what stands, from inside, after it was built and before anything of a guest runs.

use std::os::fd::OwnedFd;
use std::path::Path;

use bailiwick_sys::alone::Alone;
use bailiwick_sys::clone::{Child, Side, fork};
use bailiwick_sys::mounts::Size;
use bailiwick_sys::namespaces::Differs;
use bailiwick_sys::privileges::{self, CapabilitiesLeft};
use bailiwick_sys::{Errno, Failed, bounds, ending, mounts, overlay, packets, pidfd};
use bailiwick_wire::jail::{Laid, Own, Plan, Standing};

/// Notes what is seen.
pub(super) fn at(
    standing: &mut Standing,
    plan: &Plan,
    image: Option<Laid>,
    differs: Differs,
    outside: u32,
) -> Result<(), Failed> {
    let Differs { user, pid, net, mount, ipc, uts } = differs;
    standing.user = user;
    standing.pid = pid;
    standing.net = net;
    standing.mount = mount;
    standing.ipc = ipc;
    standing.uts = uts;
    standing.outside = outside;
    standing.no_groups = privileges::has_no_groups();
    // What is only in the bounding set can never be gained, since nothing gains privileges.
    standing.no_capabilities = !matches!(privileges::look_at_capabilities()?, CapabilitiesLeft::Some);
    standing.no_new_privileges = privileges::never_gains();
    standing.hidden = privileges::is_hidden();
    standing.most_processes = bounds::most_processes();
    standing.most_data = bounds::most_data();
    if plan.own != Own::Nothing {
        let root = Path::new("/");
        let sealed = match &image {
            // What is written to it goes to the sandbox's own files, which are bounded.
            Some(Laid::Over) => overlay::is_at(root)?,
            Some(Laid::Copied { .. }) => {
                let Size { bytes, files } = mounts::room(root)?;
                mounts::is_in_memory(root)?
                    && bytes <= plan.disk.next_multiple_of(4096)
                    && files <= plan.files
            }
            None => mounts::is_in_memory(root)? && mounts::is_read_only(root)?,
        };
        // The place where the host's files were is gone, and there is no folder above the root.
        standing.root = mount && sealed && rustix::fs::lstat("/.old").is_err();
        standing.image = image;
        // In a pid namespace of its own, this is the first process, and its own /proc says so.
        let own = rustix::fs::readlink("/proc/self", Vec::new());
        standing.processes = own.is_ok_and(|own| own.as_bytes() == b"1");
    }
    Ok(())
}

/// A process of the same user that stays outside of what Landlock is about to close, to see whether signals reach it.
pub(super) struct Outsider {
    child: Child,
    /// It ends when this closes.
    until: OwnedFd,
}

impl Outsider {
    /// Starts it.
    pub(super) fn start() -> Result<Self, Failed> {
        let (ours, theirs) = packets::stream_pair()?;
        match fork(&Alone::assume_just_started())? {
            Side::Child => {
                drop(ours);
                let _closed = packets::read(&theirs, &mut [0; 1]);
                ending::exit_now(0)
            }
            Side::Parent(child) => Ok(Self { child, until: ours }),
        }
    }

    /// Whether a signal reaches it from here, by sending one that does nothing.
    pub(super) fn is_out_of_reach(&self) -> bool {
        let pid = rustix::process::Pid::from_raw(self.child.pid);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(Errno::PERM))
    }
}

impl Drop for Outsider {
    fn drop(&mut self) {
        // By the end of its pipe it ends; it cannot be killed from here, which is what it is for.
        let _gone = packets::shut(&self.until);
        let _reaped = pidfd::reap(&self.child.pidfd);
    }
}
