//! A question of a kernel's, read out of its bytes.

use std::ffi::CStr;

use bailiwick_wire::machine::QUESTION_HEAD;

/// One question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// What is asked.
    pub(crate) kind: u32,
    /// Its number.
    pub(crate) id: u64,
    /// About which file.
    pub(crate) node: u64,
    body: &'a [u8],
}

impl<'a> Question<'a> {
    /// Reads one; its length was looked at.
    pub(crate) fn read(frame: &'a [u8]) -> Option<Self> {
        let whole = Question { kind: 0, id: 0, node: 0, body: frame };
        Some(Self {
            kind: whole.number(4)?,
            id: whole.long(8)?,
            node: whole.long(16)?,
            body: frame.get(QUESTION_HEAD..)?,
        })
    }

    /// The number at a place of its body.
    pub(crate) fn number(&self, at: usize) -> Option<u32> {
        self.body.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// The long number at a place of its body.
    pub(crate) fn long(&self, at: usize) -> Option<u64> {
        self.body.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// The name that begins at a place of its body, and where the next one begins.
    pub(crate) fn name(&self, at: usize) -> Option<(&'a CStr, usize)> {
        let name = CStr::from_bytes_until_nul(self.body.get(at..)?).ok()?;
        Some((name, at + name.to_bytes_with_nul().len()))
    }

    /// Everything from a place of its body on.
    pub(crate) fn rest(&self, at: usize) -> &'a [u8] {
        self.body.get(at..).unwrap_or_default()
    }
}
