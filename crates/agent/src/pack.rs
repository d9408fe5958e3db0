//! Packs: the files of a sandbox's own folders as one stream of bytes, and back.
//!
//! Kept: folders, files with their holes, links of both kinds, pipes with a name; permissions without those that change
//! who somebody is, and times of change. Left out: sockets, devices, what is mounted below, and extended attributes.
//! A pack is made by an agent, which nobody believes; so it is read as if a guest had written it.

mod from;
mod into;
mod record;
mod still;

#[cfg(test)]
mod tests;

pub(crate) use from::Unpack;
pub(crate) use into::Pack;

/// How a pack begins: what it is, and which kind.
const BEGINS: &[u8] = b"bailiwick pack 1\n";
/// The longest record.
const LONGEST_RECORD: usize = 128 * 1024;
/// The most data of a file in one record.
const PIECE: usize = 32 * 1024;
/// The most that is remembered of names while packing or unpacking.
const REMEMBERED: usize = 16 << 20;
/// The most entries of a pack.
const ENTRIES: u64 = 1 << 22;
