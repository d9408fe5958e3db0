//! The first files of a machine, as its kernel unpacks them: our agent as the first program, modules, nothing else.
//!
//! The format is cpio's "newc": a head of numbers in hexadecimal letters, a name, and what is in it, each filled up to four bytes.

use bailiwick_wire::machine::MODULES;

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_444;
/// What the last entry is called.
const LAST: &str = "TRAILER!!!";

/// An archive that grows.
#[derive(Debug, Default)]
struct Archive {
    bytes: Vec<u8>,
    number: u32,
}

impl Archive {
    fn add(&mut self, name: &str, mode: u32, content: &[u8]) -> Result<(), std::num::TryFromIntError> {
        self.number += 1;
        let length = u32::try_from(content.len())?;
        let name_length = u32::try_from(name.len() + 1)?;
        self.bytes.extend(b"070701");
        // Number, mode, user, group, names, time, length, device twice in two parts, length of the name, sum.
        for number in [self.number, mode, 0, 0, 1, 0, length, 0, 0, 0, 0, name_length, 0] {
            self.bytes.extend(format!("{number:08X}").into_bytes());
        }
        self.bytes.extend(name.as_bytes());
        self.bytes.push(0);
        self.fill();
        self.bytes.extend(content);
        self.fill();
        Ok(())
    }

    fn fill(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// The archive of an agent and modules, in the order in which they are loaded.
pub(crate) fn of(agent: &[u8], modules: &[(String, Vec<u8>)]) -> Result<Vec<u8>, std::num::TryFromIntError> {
    let mut archive = Archive::default();
    let folder = MODULES.trim_start_matches('/');
    archive.add("init", PROGRAM, agent)?;
    archive.add(folder, FOLDER, &[])?;
    for (number, (name, content)) in modules.iter().enumerate() {
        archive.add(&format!("{folder}/{number:03}-{name}"), FILE, content)?;
    }
    archive.add(LAST, 0, &[])?;
    Ok(archive.bytes)
}

#[cfg(test)]
mod tests;
