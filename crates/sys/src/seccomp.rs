//! Filters of system calls: allow-lists as data, every entry with the reason why it is there.
//!
//! What is not on a list traps: the process is told the number by SIGSYS, tells it on, and ends. The lists are
//! [`cell::ALLOWED`] and [`nursery::ALLOWED`]. A nursery is under both; a cell puts a filter over that which takes the
//! nursery's own list away again.

pub mod cell;
pub mod command;
mod narrowing;
pub mod nursery;
pub mod supervised;

use std::collections::BTreeMap;

use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use crate::{Failed, Step};

/// One system call that is allowed.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// Its number on this architecture.
    pub number: libc::c_long,
    /// With which arguments.
    pub when: When,
    /// Which code needs it.
    pub why: &'static str,
}

/// With which arguments a system call is allowed.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// Any.
    Always,
    /// The argument with this index is one of these values.
    OneOf(u8, &'static [u64]),
    /// Two arguments have none of these bits each.
    WithoutEither((u8, u64), (u8, u64)),
    /// Two arguments are these values each.
    Both((u8, u64), (u8, u64)),
}

/// A filter, ready to be installed.
#[derive(Debug, Clone)]
pub struct Filter(pub(crate) BpfProgram);

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the filters are written for x86-64 and aarch64");

const ARCH: TargetArch = if cfg!(target_arch = "aarch64") { TargetArch::aarch64 } else { TargetArch::x86_64 };

impl Filter {
    /// Makes a filter of a list.
    pub fn compile(list: &[Allowed]) -> Result<Self, Failed> {
        let build = || -> Result<Self, seccompiler::BackendError> {
            let rules = rules(list.iter().map(|Allowed { number, when, why: _ }| (*number, *when)))?;
            let filter = SeccompFilter::new(rules, SeccompAction::Trap, SeccompAction::Allow, ARCH)?;
            filter.try_into().map(Self)
        };
        build().map_err(|_| Step::CompileFilter.failed(Errno::INVAL))
    }

    /// Makes a filter that takes away `more` from a list that is in force already, and leaves `rest` of it: what is
    /// allowed afterwards is exactly `rest`. It is a tenth as long as a filter of `rest` would be, and every cell
    /// installs its own.
    pub fn narrow(more: &[Allowed], rest: &[Allowed]) -> Result<Self, Failed> {
        narrowing::program(more, rest).map(Self)
    }

    /// Installs it for this process and all it forks; there is no way back.
    pub fn install(&self) -> Result<(), Failed> {
        seccompiler::apply_filter(&self.0).map_err(|error| {
            let errno = match error {
                seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                    crate::namespaces::errno(&error)
                }
                _ => Errno::INVAL,
            };
            Step::InstallFilter.failed(errno)
        })
    }

    /// How many instructions it has.
    pub fn length(&self) -> usize {
        self.0.len()
    }
}

/// Rules by the number of their system call. A call that is listed once without conditions has none.
fn rules(
    list: impl Iterator<Item = (libc::c_long, When)>,
) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (number, when) in list {
        rules.entry(number).or_default().extend(when.rules()?);
    }
    Ok(rules)
}

impl When {
    /// As rules of the backend, of which one must hold; none means "always".
    fn rules(self) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        let condition = |index: u8, operator: SeccompCmpOp, value: u64| {
            SeccompCondition::new(index, SeccompCmpArgLen::Qword, operator, value)
        };
        let equal = |index: u8, value: u64| condition(index, SeccompCmpOp::Eq, value);
        match self {
            Self::Always => Ok(Vec::new()),
            Self::OneOf(index, values) => {
                values.iter().map(|value| SeccompRule::new(vec![equal(index, *value)?])).collect()
            }
            Self::WithoutEither((first, one), (second, two)) => {
                let none = |index, bits| condition(index, SeccompCmpOp::MaskedEq(bits), 0);
                Ok(vec![SeccompRule::new(vec![none(first, one)?, none(second, two)?])?])
            }
            Self::Both((first, one), (second, two)) => {
                Ok(vec![SeccompRule::new(vec![equal(first, one)?, equal(second, two)?])?])
            }
        }
    }
}

/// Whether a filter is in force for this process, by asking the kernel.
pub fn in_force() -> bool {
    matches!(rustix::thread::secure_computing_mode(), Ok(rustix::thread::SecureComputingMode::Filter))
}

/// The name of a system call on this architecture.
pub fn name(number: u32) -> Option<&'static str> {
    syscalls::Sysno::new(number as usize).map(|call| call.name())
}

/// The number of a system call on this architecture.
pub fn number(name: &str) -> Option<u32> {
    name.parse::<syscalls::Sysno>().ok().and_then(|call| u32::try_from(call.id()).ok())
}
