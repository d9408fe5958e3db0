//! What is seen of a container from outside, before anything of a guest runs: the engine's own account of it, the cgroups of its
//! first process, and what that process runs and has mounted. The files of the kernel are believed only if they are this
//! container's; where they cannot be read, the engine's account has to do. So it does for what is on a kernel of its own: there the
//! process that is seen is that kernel.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bailiwick_sys::cgroups::Group;
use bollard::models::{HostConfig, MountPoint, SystemInfoCgroupVersionEnum};
use bollard::query_parameters::InspectContainerOptions;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use rustix::io::Errno;

use crate::container::Container;
use crate::engine::EngineError;
use crate::mounts::Bound;
use crate::plan::Plan;
use crate::runtime::Kernel;

/// What is seen from outside.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Whose kernel it runs on.
    pub(crate) kernel: Kernel,
    /// What the engine says that it built.
    pub(crate) account: HostConfig,
    /// The cgroups around it, if they are to be seen.
    pub(crate) group: Option<Group>,
    /// Whether the engine says that its cgroups are of version 2; asked only where the group is not to be seen.
    pub(crate) is_unified: bool,
    /// Who its first process is on the host, or its kernel.
    pub(crate) user: Option<u32>,
    /// What is mounted in it, as the kernel says.
    pub(crate) mounted: Option<Vec<Mounted>>,
    /// What it runs in place of the agent, or has mounted in place of what was checked.
    pub(crate) wrong: Option<String>,
}

/// A mount as the kernel tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mounted {
    /// Its number, by which it is known where it is reached.
    pub(crate) number: u64,
    pub(crate) at: String,
    pub(crate) read_only: bool,
    /// What kind of file system it is.
    pub(crate) system: String,
    /// The size of a file system in memory.
    pub(crate) bytes: Option<u64>,
}

/// Looks.
pub(crate) async fn at(
    container: &Container,
    plan: &Plan,
    agent: &Path,
    kernel: Kernel,
) -> Result<Outside, EngineError> {
    let asking = container.engine.docker.inspect_container(&container.id, None::<InspectContainerOptions>);
    let told = container.engine.ask("look at a container", asking).await?;
    let process = told.state.and_then(|state| state.pid).and_then(|pid| u32::try_from(pid).ok());
    let process = process.filter(|pid| *pid > 0);
    // A number may mean another process here than where the engine is: its cgroup has this container's name.
    let group = process.and_then(|pid| Group::around(pid, &container.id));
    let process = process.filter(|_| group.is_some());
    let is_unified = group.is_none() && is_unified(container).await?;
    let mounted = process.filter(|_| kernel == Kernel::Ours).and_then(mounts_of);
    let wrong = match process.zip(mounted.as_ref()) {
        Some((pid, mounted)) => wrong(pid, mounted, plan, agent),
        None => changed(plan),
    };
    let wrong = wrong.or_else(|| told_of_more(&told.mounts.unwrap_or_default(), plan));
    Ok(Outside {
        kernel,
        account: told.host_config.unwrap_or_default(),
        group,
        is_unified,
        user: process.and_then(user_of),
        mounted,
        wrong,
    })
}

/// Whether the engine's cgroups are of version 2, as it says.
async fn is_unified(container: &Container) -> Result<bool, EngineError> {
    let told = container.engine.ask("ask for its version of cgroups", container.engine.docker.info()).await?;
    Ok(told.cgroup_version == Some(SystemInfoCgroupVersionEnum::_2))
}

#[expect(clippy::disallowed_methods, reason = "a file of the kernel, of a few lines")]
fn told_of(process: u32, file: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{process}/{file}")).ok().filter(|text| !text.is_empty())
}

fn user_of(process: u32) -> Option<u32> {
    let status = told_of(process, "status")?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().next()?.parse().ok()
}

fn mounts_of(process: u32) -> Option<Vec<Mounted>> {
    Some(told_of(process, "mountinfo")?.lines().filter_map(read_mount).collect())
}

/// One line of `mountinfo`: where it is, how, and behind a dash what it is.
fn read_mount(line: &str) -> Option<Mounted> {
    let (own, of_the_system) = line.split_once(" - ")?;
    let mut words = own.split(' ');
    let number = words.next()?.parse().ok()?;
    let (at, options) = (words.nth(3)?, words.next()?);
    let mut of_the_system = of_the_system.split(' ');
    let (system, options_of_all) = (of_the_system.next()?, of_the_system.nth(1)?);
    let size = options_of_all.split(',').find_map(|option| option.strip_prefix("size="));
    Some(Mounted {
        number,
        at: unescaped(at),
        system: system.to_owned(),
        read_only: options.split(',').any(|option| option == "ro"),
        bytes: size.and_then(kibibytes),
    })
}

fn kibibytes(size: &str) -> Option<u64> {
    size.strip_suffix('k')?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The kernel writes a few bytes of a path as three octal digits.
fn unescaped(path: &str) -> String {
    let mut plain = path.to_owned();
    for (written, meant) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(written, meant);
    }
    plain
}

/// What is another thing now than when it was checked, in words: where it is not seen inside, the engine found it by its name.
fn changed(plan: &Plan) -> Option<String> {
    let is_changed = |bound: &&Bound| {
        let found = std::fs::symlink_metadata(&bound.from).ok().map(|found| (found.dev(), found.ino()));
        bound.checked.is_some() && found != bound.checked
    };
    let bound = plan.bounds.iter().find(is_changed)?;
    Some(format!("{} is not what was checked a moment ago", bound.from))
}

/// What is another thing than was planned, in words.
fn wrong(process: u32, mounted: &[Mounted], plan: &Plan, agent: &Path) -> Option<String> {
    let same = |path: PathBuf, expected: (u64, u64)| {
        std::fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == expected)
    };
    let ours = std::fs::metadata(agent).ok().map(|found| (found.dev(), found.ino()));
    if ours.is_none_or(|ours| !same(PathBuf::from(format!("/proc/{process}/exe")), ours)) {
        return Some("its first process is not our agent".to_owned());
    }
    for bound in &plan.bounds {
        let Some(found) = mounted.iter().rev().find(|one| one.at == bound.to) else {
            return Some(format!("nothing is mounted at {}, or it is a link in the image", bound.to));
        };
        if !bound.writable && !found.read_only {
            return Some(format!("what is mounted at {} can be written to", bound.to));
        }
        let inside = PathBuf::from(format!("/proc/{process}/root{}", bound.to));
        if bound.checked.is_some_and(|checked| !same(inside, checked)) {
            return Some(format!("what is mounted at {} is not what was checked", bound.to));
        }
    }
    more(mounted, plan, |one| is_nothing(process, one))
}

/// Whether nothing can be kept in what is mounted: it is a device, or something else is mounted over it, so that nobody reaches it.
fn is_nothing(process: u32, one: &Mounted) -> bool {
    let path = format!("/proc/{process}/root{}", one.at);
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let found = match statx(CWD, path, flags, StatxFlags::MNT_ID | StatxFlags::TYPE) {
        Ok(found) => found,
        // Its own root does not lead there.
        Err(Errno::NOENT | Errno::NOTDIR) => return true,
        Err(_) => return false,
    };
    // A kernel that does not say what is there is not taken for one that says that it is something else.
    let is_told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let is_device = FileType::from_raw_mode(u32::from(found.stx_mode)) == FileType::CharacterDevice;
    is_device || is_told && found.stx_mnt_id != one.number
}

/// File systems of the kernel's, in which nothing can be kept that counts as somebody's disk.
const OF_THE_KERNEL: [&str; 6] = ["cgroup", "cgroup2", "devpts", "mqueue", "proc", "sysfs"];

/// What is mounted to be written to and was not planned, in words. The folder of devices is the engine's own.
fn more(mounted: &[Mounted], plan: &Plan, is_nothing: impl Fn(&Mounted) -> bool) -> Option<String> {
    let is_known = |one: &&Mounted| {
        one.read_only
            || plan.is_writable(&one.at)
            || OF_THE_KERNEL.contains(&one.system.as_str())
            || one.at == "/dev"
            || is_nothing(one)
    };
    mounted.iter().find(|one| !is_known(one)).map(|one| unasked(&one.at))
}

/// The same, of what the engine tells: it is all that is known of what is on a kernel of its own.
fn told_of_more(told: &[MountPoint], plan: &Plan) -> Option<String> {
    let writable = told.iter().filter(|one| one.rw != Some(false)).filter_map(|one| one.destination.as_ref());
    writable.into_iter().find(|at| !plan.is_writable(at)).map(|at| unasked(at))
}

fn unasked(at: &str) -> String {
    format!("what is mounted at {at} can be written to, and nobody asked for it")
}

#[cfg(test)]
mod tests;
