//! Giving up: users, groups, capabilities, and the ways to get them back.

use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, no_new_privs, remove_capability_from_bounding_set, set_capabilities,
    set_keep_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

use crate::{Failed, Step};

/// Becomes another user and group, and keeps capabilities for the steps that follow.
pub fn become_user(user: u32, group: u32) -> Result<(), Failed> {
    set_keep_capabilities(true).map_err(|errno| Step::KeepCapabilities.failed(errno))?;
    let (group, user) = (Gid::from_raw(group), Uid::from_raw(user));
    set_thread_res_gid(group, group, group).map_err(|errno| Step::ChangeGroup.failed(errno))?;
    set_thread_res_uid(user, user, user).map_err(|errno| Step::ChangeUser.failed(errno))
}

/// Forgets all supplementary groups.
pub fn clear_groups() -> Result<(), Failed> {
    set_thread_groups(&[]).map_err(|errno| Step::ClearGroups.failed(errno))
}

/// Whether there are no supplementary groups.
pub fn has_no_groups() -> bool {
    rustix::process::getgroups().is_ok_and(|groups| groups.is_empty())
}

/// Whether there are no supplementary groups but this process's own group, which some engines list once more.
pub fn has_no_other_groups() -> bool {
    let own = rustix::process::getgid();
    rustix::process::getgroups().is_ok_and(|groups| groups.iter().all(|group| *group == own))
}

/// Takes back the effective capabilities that a change of user dropped, for the steps that follow.
pub fn regain_kept() -> Result<(), Failed> {
    let failed = |errno| Step::KeepCapabilities.failed(errno);
    let mut sets = capabilities(None).map_err(failed)?;
    sets.effective = sets.permitted;
    set_capabilities(None, sets).map_err(failed)
}

/// Gives up every capability: bounding, ambient, inheritable, permitted, effective.
pub fn drop_all() -> Result<(), Failed> {
    // Removing from the bounding set needs a capability itself, so it comes first; without it there is nothing that
    // could be gained back, for no_new_privs is set too.
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // A capability that this kernel does not know, or one that we may not remove: looked at below.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {}
            Err(errno) => return Err(Step::DropBounding.failed(errno)),
        }
    }
    let _none_where_unsupported = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(|errno| Step::DropCapabilities.failed(errno))
}

/// Whether no capability is left, by looking. With [`CapabilitiesLeft::OnlyBounding`] none can be used or gained, since
/// nothing can be executed either.
pub fn look_at_capabilities() -> Result<CapabilitiesLeft, Failed> {
    let sets = capabilities(None).map_err(|errno| Step::DropCapabilities.failed(errno))?;
    let CapabilitySets { effective, permitted, inheritable } = sets;
    if !(effective.is_empty() && permitted.is_empty() && inheritable.is_empty()) {
        return Ok(CapabilitiesLeft::Some);
    }
    let bounding = CapabilitySet::all().iter().any(|one| capability_is_in_bounding_set(one).unwrap_or(false));
    Ok(if bounding { CapabilitiesLeft::OnlyBounding } else { CapabilitiesLeft::None })
}

/// What is left of the capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapabilitiesLeft {
    /// Some can be used.
    Some,
    /// None can be used; the bounding set is not empty.
    OnlyBounding,
    /// None anywhere.
    None,
}

/// No program that is executed from here on gains privileges.
pub fn never_gain() -> Result<(), Failed> {
    set_no_new_privs(true).map_err(|errno| Step::NoNewPrivileges.failed(errno))
}

/// Whether [`never_gain`] is in force.
pub fn never_gains() -> bool {
    no_new_privs().unwrap_or(false)
}

/// No core dump, and nobody of the same user may trace it or read its memory.
pub fn hide() -> Result<(), Failed> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|errno| Step::NotDumpable.failed(errno))
}

/// Whether [`hide`] is in force.
pub fn is_hidden() -> bool {
    matches!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable))
}

/// Ends this process when its parent ends.
pub fn die_with_parent() -> Result<(), Failed> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(|errno| Step::DieWithParent.failed(errno))
}

/// Who this process is: user and group.
pub fn identity() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}
