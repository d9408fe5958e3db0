//! The size of the program's file.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Error;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::failure::Failure;
use crate::row::{Row, Target};

/// What the program may have at most, stripped, in megabytes.
const MOST_MB: f64 = 45.0;

/// The type of a section that holds the symbols which `strip` removes (`SHT_SYMTAB`).
const SYMBOLS: [u8; 4] = [2, 0, 0, 0];

/// The row about the size. The target is for a stripped program, as the profile `dist` builds it.
#[expect(clippy::disallowed_methods, reason = "the program that the operator wants measured")]
pub(crate) fn size(program: &Path) -> Result<Vec<Row>, Failure> {
    let failed = |source| Failure::Measure { what: "the size of the program", source };
    let file = File::open(program).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    let row = Row::new("program.size", bytes as f64 / 1e6, "MB", 1);
    if has_symbols(&file).map_err(failed)? {
        return Ok(vec![Row { note: Some("not stripped: the target is 45 MB stripped"), ..row }]);
    }
    Ok(vec![Row { target: Some(Target::AtMost(MOST_MB)), ..row }])
}

/// Whether a 64-bit little-endian ELF file has a table of symbols.
fn has_symbols(file: &File) -> std::io::Result<bool> {
    if read::<6>(file, 0)? != *b"\x7fELF\x02\x01" {
        return Err(Error::other("it is no 64-bit ELF file"));
    }
    let sections = u64::from_le_bytes(read(file, 0x28)?);
    let length = u64::from(u16::from_le_bytes(read(file, 0x3a)?));
    let count = u64::from(u16::from_le_bytes(read(file, 0x3c)?));
    for number in 0..count {
        let section = sections.checked_add(number * length + 4);
        if read(file, section.ok_or_else(|| Error::other("its sections lie beyond its end"))?)? == SYMBOLS {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads so many bytes at an offset.
fn read<const LENGTH: usize>(file: &File, offset: u64) -> std::io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}
