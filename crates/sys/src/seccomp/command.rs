//! What a command in a sandbox may ask of the kernel: what programs of an ordinary user need, and nothing that makes
//! namespaces, mounts, traces others, loads code into the kernel, or reaches it by a way that filters cannot see.
//!
//! What is not on the list answers EPERM; what programs know how to do without answers ENOSYS, so that they do.

use std::collections::BTreeMap;

use rustix::io::Errno;
use seccompiler::{SeccompAction, SeccompFilter, SeccompRule};

use super::{ARCH, Filter, number};
use crate::{Failed, Step};

mod conditions;
mod list;

use conditions::{Test, conditional};
pub use list::{ALLOWED, Group, REACHING, SHARED, UNKNOWN};

/// Whether sockets of the internet can be made: where the network namespace is not one's own, they must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// Within a machine and over the internet's protocols.
    Internet,
    /// Only pairs that are connected from birth, and to nobody else ever.
    PairsOnly,
}

/// Who else is there: without namespaces, the user's other processes and their shared memory have numbers here, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Nobody: pids and IPC are the sandbox's own.
    Nobody,
    /// Whoever else is on the machine.
    Everybody,
}

/// The two filters of a command: what is allowed, and over it what answers that there is no such call.
#[derive(Debug, Clone)]
pub struct Filters {
    allowed: Filter,
    unknown: Filter,
}

impl Filters {
    /// Makes them.
    pub fn compile(sockets: Sockets, neighbours: Neighbours) -> Result<Self, Failed> {
        let build = || -> Result<Self, seccompiler::BackendError> {
            let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
            let reaching = (sockets == Sockets::Internet).then_some(&REACHING);
            let shared = (neighbours == Neighbours::Nobody).then_some(&SHARED);
            let groups = ALLOWED.iter().chain(reaching).chain(shared);
            for name in groups.flat_map(|group| group.calls) {
                if let Some(number) = number(name) {
                    rules.insert(i64::from(number), Vec::new());
                }
            }
            for (name, ways) in conditional(sockets, neighbours) {
                let Some(number) = number(name) else { continue };
                let ways = ways.into_iter().map(|tests| {
                    let tests: Result<Vec<_>, _> = tests.into_iter().map(Test::condition).collect();
                    SeccompRule::new(tests?)
                });
                rules.insert(i64::from(number), ways.collect::<Result<_, _>>()?);
            }
            let errno = |errno: Errno| SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
            let allowed =
                SeccompFilter::new(rules, errno(Errno::PERM), SeccompAction::Allow, ARCH)?.try_into()?;
            let unknown: BTreeMap<i64, Vec<SeccompRule>> = UNKNOWN
                .calls
                .iter()
                .filter_map(|name| number(name))
                .map(|number| (i64::from(number), Vec::new()))
                .collect();
            let unknown =
                SeccompFilter::new(unknown, SeccompAction::Allow, errno(Errno::NOSYS), ARCH)?.try_into()?;
            Ok(Self { allowed: Filter(allowed), unknown: Filter(unknown) })
        };
        build().map_err(|_| Step::CompileFilter.failed(Errno::INVAL))
    }

    /// Installs both. Of two filters that refuse, the kernel takes the answer of the one that came last.
    pub fn install(&self) -> Result<(), Failed> {
        self.allowed.install()?;
        self.unknown.install()
    }

    /// A mark of what they hold, for receipts: the same filters have the same.
    pub fn mark(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for one in self.allowed.0.iter().chain(&self.unknown.0) {
            for part in [u64::from(one.code), u64::from(one.jt), u64::from(one.jf), u64::from(one.k)] {
                hash = (hash ^ part).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    /// How many instructions they have.
    pub fn length(&self) -> usize {
        self.allowed.length() + self.unknown.length()
    }
}
