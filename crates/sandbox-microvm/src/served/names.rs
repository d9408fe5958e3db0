//! Which number stands for which name: all that is remembered of what a machine was told.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use bailiwick_sys::Errno;

/// The root, below which everything is that is served.
pub(crate) const ROOT: u64 = 1;
/// The number of the first thing that is served; the others follow.
pub(crate) const FIRST: u64 = 2;
/// The most names that a machine may know at once.
const MOST: usize = 1 << 19;
/// The deepest path.
const DEEPEST: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    above: u64,
    name: CString,
    /// How often the machine was told.
    times: u64,
}

/// The names that a machine knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    shares: u64,
    known: HashMap<u64, Known>,
    numbers: HashMap<(u64, CString), u64>,
    next: u64,
}

impl Names {
    /// Of a machine that is served so many things.
    pub(crate) fn new(shares: usize) -> Self {
        let shares = shares as u64;
        Self { shares, next: FIRST + shares, ..Self::default() }
    }

    /// Which of the things that are served a number stands for, if for one of them.
    pub(crate) fn share(&self, node: u64) -> Option<usize> {
        let number = node.checked_sub(FIRST).filter(|number| *number < self.shares)?;
        usize::try_from(number).ok()
    }

    /// Where something is: which of the things that are served, and the path in it.
    pub(crate) fn place(&self, node: u64) -> Result<(usize, CString), Errno> {
        let mut parts = Vec::new();
        let mut node = node;
        let share = loop {
            if let Some(share) = self.share(node) {
                break share;
            }
            let known = self.known.get(&node).ok_or(Errno::STALE)?;
            parts.push(known.name.to_bytes());
            if parts.len() > DEEPEST {
                return Err(Errno::NAMETOOLONG);
            }
            node = known.above;
        };
        parts.reverse();
        let path = CString::new(parts.join(&b'/')).map_err(|_| Errno::INVAL)?;
        Ok((share, path))
    }

    /// The number of a name in a folder; it counts as told.
    pub(crate) fn tell(&mut self, above: u64, name: &CStr) -> Result<u64, Errno> {
        let key = (above, name.to_owned());
        if let Some(node) = self.numbers.get(&key) {
            if let Some(known) = self.known.get_mut(node) {
                known.times = known.times.saturating_add(1);
            }
            return Ok(*node);
        }
        if self.known.len() >= MOST {
            return Err(Errno::NFILE);
        }
        let node = self.next;
        self.next += 1;
        self.known.insert(node, Known { above, name: key.1.clone(), times: 1 });
        self.numbers.insert(key, node);
        Ok(node)
    }

    /// The number of a name in a folder, if it has one.
    pub(crate) fn number(&self, above: u64, name: &CStr) -> Option<u64> {
        self.numbers.get(&(above, name.to_owned())).copied()
    }

    /// The machine forgets a number so often as it was told. Gives whether it knows it no more.
    pub(crate) fn forget(&mut self, node: u64, times: u64) -> bool {
        let Some(known) = self.known.get_mut(&node) else { return false };
        known.times = known.times.saturating_sub(times);
        if known.times > 0 {
            return false;
        }
        let Some(known) = self.known.remove(&node) else { return false };
        let key = (known.above, known.name);
        if self.numbers.get(&key) == Some(&node) {
            self.numbers.remove(&key);
        }
        true
    }

    /// A name is gone: whoever asks for it again gets another number.
    pub(crate) fn unname(&mut self, above: u64, name: &CStr) {
        self.numbers.remove(&(above, name.to_owned()));
    }

    /// Something has another name now.
    pub(crate) fn rename(&mut self, from: (u64, &CStr), to: (u64, &CStr)) {
        self.unname(to.0, to.1);
        let Some(node) = self.numbers.remove(&(from.0, from.1.to_owned())) else { return };
        if let Some(known) = self.known.get_mut(&node) {
            (known.above, known.name) = (to.0, to.1.to_owned());
        }
        self.numbers.insert((to.0, to.1.to_owned()), node);
    }
}
