//! Sockets that can be seen, those without a process among them: a connection that was closed waits for a minute.

use std::collections::BTreeMap;

use bailiwick_sys::Errno;

use crate::text;

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

/// Looks. The lists are long to go through, whatever is in them; where the count says that there is nothing, there is no
/// need to.
pub(super) fn look() -> Result<Sockets, Errno> {
    let mut all = Sockets::new();
    if count(&text::of("/proc/net/sockstat")?) == Some(0) {
        return Ok(all);
    }
    // A list that is not there belongs to what this kernel cannot do; without any, they cannot be looked at.
    rustix::fs::stat("/proc/net/unix")?;
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

/// How many sockets of any kind there are in this network, with closed connections that wait.
pub(super) fn count(text: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(text);
    let number = |line: &str, name: &str| {
        let mut words = text.lines().find_map(|one| one.strip_prefix(line))?.split_whitespace();
        words.find(|word| *word == name).and_then(|_| words.next()).and_then(|word| word.parse::<u64>().ok())
    };
    Some(number("sockets:", "used")?.saturating_add(number("TCP:", "tw")?))
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
