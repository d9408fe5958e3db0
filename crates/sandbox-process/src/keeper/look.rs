//! Looking at what stands, from inside, after it was built and before anything of a guest runs.

use std::path::Path;

use bailiwick_sys::namespaces::Differs;
use bailiwick_sys::privileges::{self, CapabilitiesLeft};
use bailiwick_sys::{Failed, bounds, mounts};
use bailiwick_wire::jail::{Own, Plan, Standing};

/// Notes what is seen.
pub(super) fn at(standing: &mut Standing, plan: &Plan, differs: Differs, outside: u32) -> Result<(), Failed> {
    let Differs { user, pid, net, mount, ipc, uts } = differs;
    standing.user = user;
    standing.pid = pid;
    standing.net = net;
    standing.mount = mount;
    standing.ipc = ipc;
    standing.uts = uts;
    standing.outside = outside;
    standing.no_groups = privileges::has_no_groups();
    standing.no_capabilities = matches!(privileges::look_at_capabilities()?, CapabilitiesLeft::None);
    standing.no_new_privileges = privileges::never_gains();
    standing.hidden = privileges::is_hidden();
    standing.most_processes = bounds::most_processes();
    if plan.own != Own::Nothing {
        let root = Path::new("/");
        let sealed = mounts::is_in_memory(root)? && mounts::is_read_only(root)?;
        // The place where the host's files were is gone, and there is no folder above the root.
        standing.root = mount && sealed && rustix::fs::lstat("/.old").is_err();
        // In a pid namespace of its own, this is the first process, and its own /proc says so.
        let own = rustix::fs::readlink("/proc/self", Vec::new());
        standing.processes = own.is_ok_and(|own| own.as_bytes() == b"1");
    }
    Ok(())
}
