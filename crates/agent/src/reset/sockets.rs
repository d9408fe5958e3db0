//! Sockets that can be seen, those without a process among them: a connection that was closed waits for a minute.

use std::collections::BTreeMap;

use bailiwick_sys::Errno;

use super::text;

/// The lists of the kernel, and in which column each has the number of the socket; closed connections have zero.
const LISTS: &[(&str, usize)] = &[
    ("tcp", 9),
    ("tcp6", 9),
    ("udp", 9),
    ("udp6", 9),
    ("udplite", 9),
    ("udplite6", 9),
    ("raw", 9),
    ("raw6", 9),
    ("icmp", 9),
    ("icmp6", 9),
    ("unix", 6),
    ("netlink", 9),
    ("packet", 8),
];

/// The sockets of each list, sorted.
pub(super) type Sockets = BTreeMap<&'static str, Vec<u64>>;

/// Looks.
pub(super) fn look() -> Result<Sockets, Errno> {
    // A list that is not there belongs to what this kernel cannot do; without any, they cannot be looked at.
    rustix::fs::stat("/proc/net/unix")?;
    let mut all = Sockets::new();
    for (list, column) in LISTS {
        match text::of(&format!("/proc/net/{list}")) {
            Ok(text) => {
                let mut numbers = text::column(&text, *column);
                numbers.sort_unstable();
                all.insert(list, numbers);
            }
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(all)
}

/// What is there now and was not then, in words.
pub(super) fn new(then: &Sockets, now: &Sockets) -> Vec<String> {
    let mut left = Vec::new();
    for (list, numbers) in now {
        let mut before = then.get(list).cloned().unwrap_or_default();
        let is_new = |number: &&u64| match before.iter().position(|one| one == *number) {
            Some(place) => {
                before.swap_remove(place);
                false
            }
            None => true,
        };
        let count = numbers.iter().filter(is_new).count();
        if count > 0 {
            left.push(format!("{count} sockets of the kind {list}"));
        }
    }
    left
}
