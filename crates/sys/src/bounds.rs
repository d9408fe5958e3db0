//! Resource limits of this process. They only go down.

use std::ffi::CStr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{Failed, Step};

/// Bounds that hold for a nursery and everything it forks: no core, no file grows.
///
/// The number of descriptors stays as high as it may be: the kernel also counts by it the descriptors that all
/// nurseries of this user have sent and that nobody has received yet.
pub fn for_a_nursery() -> Result<(), Failed> {
    for (resource, most) in
        [(Resource::Core, 0), (Resource::Fsize, 0), (Resource::Msgqueue, 0), (Resource::Sigpending, 4096)]
    {
        set(resource, most, most)?;
    }
    Ok(())
}

/// Bounds that hold for a sandbox and everything in it: no queue of messages outlives its maker, no program goes without a
/// stack guard. With a limit of one byte the kernel neither writes a core nor pipes it to anybody.
pub fn for_a_sandbox(processes: Option<u64>, data: Option<u64>) -> Result<(), Failed> {
    set(Resource::Core, 1, 1)?;
    set(Resource::Msgqueue, 0, 0)?;
    set(Resource::Rtprio, 0, 0)?;
    set(Resource::Sigpending, 4096, 4096)?;
    set(Resource::Memlock, 8 << 20, 8 << 20)?;
    set(Resource::Nofile, 1024, 65_536)?;
    if let Some(most) = processes {
        set(Resource::Nproc, most, most)?;
    }
    // Not the address space: programs reserve far more of that than they use.
    if let Some(most) = data {
        set(Resource::Data, most, most)?;
    }
    Ok(())
}

/// What the kernel counts for whoever made a user namespace, too: without a bound of its own, one sandbox takes all that
/// its owner may have on the whole machine.
const OF_A_USER_NAMESPACE: [(&CStr, &[u8]); 3] = [
    (c"/proc/sys/user/max_inotify_instances", b"16"),
    (c"/proc/sys/user/max_inotify_watches", b"8192"),
    // The filter lets none be made; this is the second reason why there is none.
    (c"/proc/sys/user/max_user_namespaces", b"0"),
];

/// Buffers of TCP sockets (the least, the first and the most bytes of each) and numbers of connections that nobody holds.
pub const OF_A_NETWORK_NAMESPACE: [(&CStr, &str); 4] = [
    // A cgroup only slows down a socket that has less than the first, so a small one keeps thousands of sockets small.
    (c"/proc/sys/net/ipv4/tcp_rmem", "4096 16384 1048576"),
    (c"/proc/sys/net/ipv4/tcp_wmem", "4096 16384 1048576"),
    // Connections that wait to be accepted, at each socket that listens, are charged to nobody.
    (c"/proc/sys/net/core/somaxconn", "64"),
    // Nor are connections that are closed and wait for late packets.
    (c"/proc/sys/net/ipv4/tcp_max_tw_buckets", "4096"),
];

/// Bounds that hold for this process's user namespace, which has to be its own: elsewhere they would be the machine's. Needs
/// its own `/proc`, and capabilities in the namespace. A bound that this kernel does not know counts nothing.
pub fn for_a_user_namespace() -> Result<(), Failed> {
    write_all(&OF_A_USER_NAMESPACE)
}

/// Bounds that hold for this process's network namespace, which has to be its own. Needs its own `/proc`, and capabilities in
/// the namespace.
pub fn for_a_network_namespace() -> Result<(), Failed> {
    write_all(&OF_A_NETWORK_NAMESPACE.map(|(file, text)| (file, text.as_bytes())))
}

fn write_all(files: &[(&CStr, &[u8])]) -> Result<(), Failed> {
    let failed = |errno| Step::SetBound.failed(errno);
    for (file, most) in files {
        match rustix::fs::open(*file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => rustix::io::write(&file, most).map_err(failed)?,
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(failed(errno)),
        };
    }
    Ok(())
}

/// The most processes and threads that this user can have here; none for no bound.
pub fn most_processes() -> Option<u64> {
    getrlimit(Resource::Nproc).maximum
}

/// The most memory of its own that this process can have; none for no bound.
pub fn most_data() -> Option<u64> {
    getrlimit(Resource::Data).maximum
}

/// No memory is held in place from now on.
pub fn nothing_locked() -> Result<(), Failed> {
    set(Resource::Memlock, 0, 0)
}

/// No core file, whatever ends this process.
pub fn no_core() -> Result<(), Failed> {
    set(Resource::Core, 0, 0)
}

/// No descriptor beyond the one that is open.
pub fn no_more_descriptors() -> Result<(), Failed> {
    set(Resource::Nofile, 1, 1)
}

/// How far the native stack may grow; read again by the kernel at every growth.
pub fn native_stack(bytes: u64) -> Result<(), Failed> {
    set(Resource::Stack, bytes, bytes)
}

/// The size of this process's memory from now on.
pub fn address_space(bytes: u64) -> Result<(), Failed> {
    set(Resource::As, bytes, bytes)
}

/// CPU time in whole seconds; then SIGXCPU, and a second later SIGKILL.
pub fn cpu_seconds(seconds: u64) -> Result<(), Failed> {
    set(Resource::Cpu, seconds, seconds.saturating_add(1))
}

/// Sets a bound, or what is allowed of it: a process that was started with less cannot have more.
fn set(resource: Resource, current: u64, maximum: u64) -> Result<(), Failed> {
    let now = getrlimit(resource);
    let (least, most) = (now.current.unwrap_or(u64::MAX), now.maximum.unwrap_or(u64::MAX));
    if (least, most) == (current.min(most), maximum.min(most)) {
        // Some kernels let nobody set what they take from whoever starts a process.
        return Ok(());
    }
    let (current, maximum) = (current.min(most), maximum.min(most));
    setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) })
        .map_err(|errno| Step::SetBound.failed(errno))
}

/// The size of a process's memory, read from an open `statm`.
pub fn memory_size(statm: &str) -> Result<u64, Failed> {
    let pages: u64 = statm
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or(Step::ReadMemorySize.failed(Errno::INVAL))?;
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}
