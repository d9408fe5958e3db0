//! What is asked of the engine: a container that can do nothing but run our agent, within the bounds of a spec.

use std::collections::HashMap;
use std::path::Path;

use bailiwick_agent_host::Places;
use bailiwick_agent_host::masks::MASKS;
use bailiwick_sandbox::{Network, SandboxSpec};
use bailiwick_sys::bounds;
use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig, Mount,
    MountBindOptions, MountType, ResourcesUlimits,
};

use rustix::process::Resource;

use crate::engine::Kind;
use crate::image::Begins;
use crate::mounts::Bound;
use crate::runtime::{self, Kernel};

/// Who everybody is inside: a user that no package takes, and so nobody on the host.
pub(crate) const USER: u32 = 64_924;

/// Where the agent is.
pub(crate) const AGENT: &str = "/.bailiwick-agent";

/// Memory that the cgroup has beside the limit: for the agent, what the engine starts it with, and what the kernel keeps for both.
/// Commands can take what these leave of it, so it is small.
const OVERHEAD: u64 = 4 << 20;
/// The same where a kernel of its own is in it, too.
const OVERHEAD_OF_A_KERNEL: u64 = 128 << 20;
/// A file of the sandbox's own for every so many bytes of a folder.
const BYTES_A_FILE: u64 = 4096;
/// As many at least.
const FEWEST_FILES: u64 = 1024;
/// The most open files of each process.
const MOST_OPEN: u64 = 65_536;
/// The most processes of its user, in all containers together.
const MOST_OF_A_USER: u64 = 32_768;
/// The smallest folder that can be written to.
pub(crate) const PAGE: u64 = 4096;

/// What is hidden beside the files of `/proc`: everything in `/sys`.
const SYS: &str = "/sys";

/// The paths that the engine has to hide.
fn masks() -> Vec<String> {
    MASKS.iter().chain([&SYS]).map(|path| (*path).to_owned()).collect()
}

/// The lowest port for which no capability is needed, in the container's own network.
const PORTS: [&str; 2] = ["net.ipv4.ip_unprivileged_port_start", "0"];

/// Settings of the kernel that can be read, and never written.
const READ_ONLY: [&str; 1] = ["/proc/sys"];

/// Resource limits that nobody inside can set on a kernel that is not Linux: whoever starts a process has to.
const GIVEN: [(&str, u64); 3] = [("msgqueue", 0), ("rtprio", 0), ("sigpending", 4096)];

/// Who builds a container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By<'a> {
    pub(crate) kind: Kind,
    /// The runtime that it is told to use.
    pub(crate) runtime: Option<&'a str>,
}

impl By<'_> {
    fn kernel(self) -> Kernel {
        runtime::expected(self.runtime)
    }
}

/// A folder of the sandbox's own, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scratch {
    pub(crate) at: String,
    pub(crate) bytes: u64,
}

/// What a container is to be.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) bounds: Vec<Bound>,
    pub(crate) scratch: Vec<Scratch>,
    /// The bytes of its cgroup.
    pub(crate) memory: u64,
    /// How many of these are not for commands: see [`OVERHEAD`].
    pub(crate) beside: u64,
    pub(crate) cpu: u32,
    /// The agent counted; none for no bound. On this machine's kernel it is the engine's to hold, on one of its own the agent's.
    pub(crate) pids: Option<u64>,
    pub(crate) own_network: bool,
    pub(crate) begins: Begins,
}

impl Plan {
    /// For a spec, with the agent at this path of the host's.
    pub(crate) fn of(
        spec: &SandboxSpec,
        places: &Places,
        agent: &Path,
        begins: Begins,
        mounts: Vec<Bound>,
        lent: Vec<Bound>,
        by: By<'_>,
    ) -> Self {
        let limits = &spec.limits;
        let from = agent.display().to_string();
        let agent = Bound { from, to: AGENT.to_owned(), writable: false, checked: None };
        // What is lent replaces what the host has there.
        let of_the_host = begins.bounds.iter().filter(|bound| !lent.iter().any(|lent| lent.to == bound.to));
        let mut bounds: Vec<Bound> = of_the_host.cloned().collect();
        bounds.extend(lent);
        bounds.push(agent);
        bounds.extend(mounts);
        let is_bound = |at: &&str| bounds.iter().any(|bound| bound.to == **at);
        let own = places.own().iter().map(bailiwick_sandbox::SandboxPath::as_str);
        let own: Vec<String> = own.filter(|at| !is_bound(at)).map(str::to_owned).collect();
        let most = limits.processes.value;
        let mut scratch = split(&own, spec.workdir.as_str(), limits.scratch());
        if by.kind == Kind::Podman {
            // It would put a folder there that can be written to without a bound.
            scratch.push(Scratch { at: "/run".to_owned(), bytes: 0 });
        }
        let overhead = match by.kernel() {
            Kernel::Ours => OVERHEAD,
            Kernel::Own => OVERHEAD_OF_A_KERNEL,
        };
        Self {
            scratch,
            bounds,
            // The sandbox's own files are in memory, and count within it.
            memory: limits.memory.value.saturating_add(overhead),
            beside: overhead,
            cpu: limits.cpu.value,
            pids: (most > 0).then(|| u64::from(most) + 1),
            own_network: spec.network != Network::Host,
            begins,
        }
    }

    /// Whether what is at a place may be written to.
    pub(crate) fn is_writable(&self, at: &str) -> bool {
        let is_bound = self.bounds.iter().any(|bound| bound.writable && bound.to == at);
        is_bound || self.scratch.iter().any(|scratch| scratch.at == at)
    }

    /// The same in the engine's words.
    pub(crate) fn body(&self, by: By<'_>, labels: HashMap<String, String>) -> ContainerCreateBody {
        let By { kind, runtime } = by;
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let memory = Some(signed(self.memory));
        let tmpfs = self.scratch.iter().map(|one| (one.at.clone(), one.options(kind))).collect();
        let host = HostConfig {
            memory,
            // As much as memory: no swap beside it.
            memory_swap: memory,
            nano_cpus: Some(i64::from(self.cpu) * 1_000_000),
            // What a kernel of its own is made of would be counted, and not the processes on it.
            pids_limit: Some(self.pids.filter(|_| by.kernel() == Kernel::Ours).map_or(-1, signed)),
            network_mode: Some(if self.own_network { "none" } else { "host" }.to_owned()),
            ipc_mode: Some("private".to_owned()),
            cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
            privileged: Some(false),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(security(kind)),
            // The way out listens at ports that programs expect; engines differ in whether that needs a capability.
            sysctls: self.own_network.then(|| settings(by)),
            readonly_rootfs: Some(true),
            mounts: Some(self.bounds.iter().map(mount).collect()),
            tmpfs: Some(tmpfs),
            masked_paths: (kind == Kind::Docker).then(masks),
            readonly_paths: (kind == Kind::Docker).then(|| READ_ONLY.map(str::to_owned).to_vec()),
            ulimits: Some(resources(by)),
            // What goes over its streams is between the agent and us.
            log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
            // It goes when its agent ends, also where nobody is there any more to remove it.
            auto_remove: Some(true),
            runtime: runtime.map(str::to_owned),
            ..HostConfig::default()
        };
        ContainerCreateBody {
            hostname: self.own_network.then(|| "sandbox".to_owned()),
            user: Some(format!("{USER}:{USER}")),
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(false),
            tty: Some(false),
            open_stdin: Some(true),
            // Its agent ends with the stream to it.
            stdin_once: Some(true),
            entrypoint: Some(vec![AGENT.to_owned()]),
            cmd: Some(Vec::new()),
            working_dir: Some("/".to_owned()),
            image: Some(self.begins.image.clone()),
            // An image must not have the engine start anything by itself.
            healthcheck: Some(HealthConfig {
                test: Some(vec!["NONE".to_owned()]),
                ..HealthConfig::default()
            }),
            labels: Some(labels),
            host_config: Some(host),
            ..ContainerCreateBody::default()
        }
    }
}

/// Settings of the container's own network.
fn settings(by: By<'_>) -> HashMap<String, String> {
    let mut settings = HashMap::from([PORTS.map(str::to_owned).into()]);
    if by.kernel() == Kernel::Ours {
        settings.extend(bounds::OF_A_NETWORK_NAMESPACE.iter().filter_map(|(file, text)| {
            let name = file.to_str().ok()?.strip_prefix("/proc/sys/")?.replace('/', ".");
            Some((name, (*text).to_owned()))
        }));
    }
    settings
}

/// Divides a disk among folders, each a file system of its own: half for where commands begin, the rest in equal parts. Together they
/// are never more.
fn split(own: &[String], workdir: &str, disk: u64) -> Vec<Scratch> {
    let is_first = |at: &str| workdir == at || workdir.starts_with(&format!("{at}/"));
    // The deepest, where one is within another.
    let begins = own.iter().enumerate().filter(|(_, at)| is_first(at));
    let first = begins.max_by_key(|(_, at)| at.len()).map(|(number, _)| number);
    let others = own.len() as u64 - u64::from(first.is_some());
    let for_first = match (first, others) {
        (None, _) => 0,
        (Some(_), 0) => disk,
        (Some(_), _) => disk / 2,
    };
    let for_others = (disk - for_first).checked_div(others).unwrap_or(0);
    let part = |(number, at): (usize, &String)| {
        let bytes = if Some(number) == first { for_first } else { for_others };
        Scratch { at: at.clone(), bytes: bytes - bytes % PAGE }
    };
    own.iter().enumerate().map(part).collect()
}

impl Scratch {
    /// In the engine's words. Programs are compiled and run there, so `noexec` is taken back; a size of nothing would be no bound at
    /// all, so what has none cannot be written to.
    fn options(&self, kind: Kind) -> String {
        let Self { bytes, .. } = *self;
        let (access, size) = if bytes == 0 { ("ro", PAGE) } else { ("rw", bytes) };
        let files = (bytes / BYTES_A_FILE).max(FEWEST_FILES);
        let usual = format!("{access},nosuid,nodev,exec,size={size}");
        match kind {
            Kind::Docker => format!("{usual},mode=0700,uid={USER},gid={USER},nr_inodes={files}"),
            // It knows no owner of such a folder and no number of files, and would copy into it what the image has there.
            Kind::Podman => format!("{usual},mode=1777,notmpcopyup"),
        }
    }
}

/// What cannot be gained, and what is hidden: Podman has no other field for that.
fn security(kind: Kind) -> Vec<String> {
    let mut options = vec!["no-new-privileges".to_owned()];
    if kind == Kind::Podman {
        options.push(format!("mask={}", masks().join(":")));
    }
    options
}

/// Limits of each process. Not what an engine would choose: where it may have no more itself, it could not start anything.
fn resources(by: By<'_>) -> Vec<ResourcesUlimits> {
    let ours = |resource| rustix::process::getrlimit(resource).maximum;
    let limit = |name: &str, soft: u64, hard: u64| {
        let signed = |value: u64| i64::try_from(value).ok();
        ResourcesUlimits { name: Some(name.to_owned()), soft: signed(soft), hard: signed(hard) }
    };
    let open = ours(Resource::Nofile).unwrap_or(MOST_OPEN).min(MOST_OPEN);
    let mut limits = vec![limit("nofile", open.min(1024), open)];
    if by.kernel() == Kernel::Own {
        limits.extend(GIVEN.map(|(name, most)| limit(name, most, most)));
    }
    if by.kind == Kind::Podman {
        // It counts for the user in all containers, so it bounds nothing here; Podman itself may have no more.
        let processes = ours(Resource::Nproc).unwrap_or(MOST_OF_A_USER).min(MOST_OF_A_USER);
        limits.push(limit("nproc", processes, processes));
    }
    limits
}

fn mount(bound: &Bound) -> Mount {
    Mount {
        source: Some(bound.from.clone()),
        target: Some(bound.to.clone()),
        typ: Some(MountType::BIND),
        read_only: Some(!bound.writable),
        // What is mounted below it stays outside: engines make only the topmost read-only.
        bind_options: Some(MountBindOptions { non_recursive: Some(true), ..MountBindOptions::default() }),
        ..Mount::default()
    }
}

#[cfg(test)]
mod tests;
