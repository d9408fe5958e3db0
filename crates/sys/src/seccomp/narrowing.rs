//! The filter that a cell puts over its nursery's: it names only what it takes away.
//!
//! Every cell has the kernel translate its own copy of it, which takes longer with every instruction; so it is written
//! here by hand, and numbers that lie together are refused together. It leaves to the filter below, which stays in
//! force, all that one refuses already: other architectures, and every call that is on neither list.

use std::collections::BTreeSet;
use std::mem::offset_of;

use rustix::io::Errno;
use seccompiler::{BpfProgram, sock_filter};

use super::{Allowed, When};
use crate::{Failed, Step};

/// Where the number of the system call is.
const NUMBER: usize = offset_of!(libc::seccomp_data, nr);
/// Where its arguments are, eight bytes each; the lower half comes first on both architectures.
const ARGUMENTS: usize = offset_of!(libc::seccomp_data, args);

/// One instruction, with the jumps to the end still open.
enum Line {
    /// Loads four bytes of what is known about the call.
    Load(usize),
    /// Refuses where the comparison holds, else goes on.
    RefuseIf(u32, u32),
    /// Goes on where the comparison holds, else skips this many.
    GoOnIf(u32, u32, u8),
    /// Refuses where the comparison does not hold, else goes on.
    RefuseUnless(u32, u32),
    /// Allows.
    Allow,
}

/// Takes `more` away from a list that is in force already, and leaves `rest` of it.
pub(super) fn program(more: &[Allowed], rest: &[Allowed]) -> Result<BpfProgram, Failed> {
    let unwritable = || Step::CompileFilter.failed(Errno::INVAL);
    let number = |one: &Allowed| u32::try_from(one.number).map_err(|_| unwritable());
    let kept: BTreeSet<u32> = rest.iter().map(number).collect::<Result<_, _>>()?;
    let mut whole = BTreeSet::new();
    let mut parts = Vec::new();
    for one in more {
        let refused = number(one)?;
        if !kept.contains(&refused) {
            whole.insert(refused);
            continue;
        }
        // The list below lets the first through with this one value only, so the second says enough.
        let When::Both(_, (index, value)) = one.when else { return Err(unwritable()) };
        let value = u32::try_from(value).map_err(|_| unwritable())?;
        parts.push((refused, ARGUMENTS + usize::from(index) * size_of::<u64>(), value));
    }
    let mut lines = vec![Line::Load(NUMBER)];
    for (first, last) in stretches(&whole, &kept) {
        if first == last {
            lines.push(Line::RefuseIf(libc::BPF_JEQ, first));
        } else if kept.range(first..).next().is_none() {
            lines.push(Line::RefuseIf(libc::BPF_JGE, first));
        } else {
            lines.extend([Line::GoOnIf(libc::BPF_JGE, first, 1), Line::RefuseUnless(libc::BPF_JGT, last)]);
        }
    }
    for (refused, argument, value) in parts {
        // What is loaded is no number any more, so it ends here.
        lines.extend([
            Line::GoOnIf(libc::BPF_JEQ, refused, 3),
            Line::Load(argument),
            Line::RefuseIf(libc::BPF_JEQ, value),
            Line::Allow,
        ]);
    }
    lines.push(Line::Allow);
    written(&lines).ok_or_else(unwritable)
}

/// The numbers as stretches that no kept one lies in.
fn stretches(whole: &BTreeSet<u32>, kept: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    for number in whole {
        match stretches.last_mut() {
            Some((_, last)) if kept.range(*last..*number).next().is_none() => *last = *number,
            _ => stretches.push((*number, *number)),
        }
    }
    stretches
}

fn written(lines: &[Line]) -> Option<BpfProgram> {
    let one =
        |code: u32, jt: u8, jf: u8, k: u32| Some(sock_filter { code: u16::try_from(code).ok()?, jt, jf, k });
    let jump = libc::BPF_JMP | libc::BPF_K;
    let result = |k: u32| one(libc::BPF_RET | libc::BPF_K, 0, 0, k);
    let mut program = Vec::with_capacity(lines.len() + 1);
    for (index, line) in lines.iter().enumerate() {
        // The refusal is behind the last line.
        let to_refusal = u8::try_from(lines.len() - index - 1).ok()?;
        program.push(match *line {
            Line::Load(place) => {
                one(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, u32::try_from(place).ok()?)?
            }
            Line::RefuseIf(compare, value) => one(jump | compare, to_refusal, 0, value)?,
            Line::RefuseUnless(compare, value) => one(jump | compare, 0, to_refusal, value)?,
            Line::GoOnIf(compare, value, skipped) => one(jump | compare, 0, skipped, value)?,
            Line::Allow => result(libc::SECCOMP_RET_ALLOW)?,
        });
    }
    program.push(result(libc::SECCOMP_RET_TRAP)?);
    Some(program)
}
