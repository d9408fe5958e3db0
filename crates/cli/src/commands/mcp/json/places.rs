//! Where things stand in a JSON text that a strict reader has accepted. It looks, without recursion, and changes nothing.

use std::ops::Range;

use crate::commands::mcp::EditError;

/// An object or a list in a text.
pub(super) struct Container {
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) items: Vec<Item>,
}

/// A member of an object, or an item of a list.
pub(super) struct Item {
    pub(super) start: usize,
    pub(super) key: Option<String>,
    pub(super) value: Range<usize>,
}

impl Container {
    /// The outermost.
    pub(super) fn root(text: &str) -> Result<Self, EditError> {
        Self::at(text, after_space(text.as_bytes(), 0))
    }

    /// The container that opens here.
    pub(super) fn at(text: &str, open: usize) -> Result<Self, EditError> {
        Self::find(text, open).ok_or(EditError::NotKept)
    }

    fn find(text: &str, open: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let (has_keys, closing) = match bytes.get(open)? {
            b'{' => (true, b'}'),
            b'[' => (false, b']'),
            _ => return None,
        };
        let mut items = Vec::new();
        let mut here = after_space(bytes, open + 1);
        while *bytes.get(here)? != closing {
            let start = here;
            let mut key = None;
            if has_keys {
                let end = end_of_value(bytes, here)?;
                key = Some(serde_json::from_str(text.get(here..end)?).ok()?);
                let colon = after_space(bytes, end);
                here = after_space(bytes, colon + 1);
            }
            let end = end_of_value(bytes, here)?;
            items.push(Item { start, key, value: here..end });
            here = after_space(bytes, end);
            if *bytes.get(here)? == b',' {
                here = after_space(bytes, here + 1);
            }
        }
        Some(Self { open, close: here, items })
    }

    /// The member of this name. Of two, programs take the one or the other.
    pub(super) fn member(&self, key: &str) -> Result<Option<&Item>, EditError> {
        let mut all = self.items.iter().filter(|item| item.key.as_deref() == Some(key));
        match (all.next(), all.next()) {
            (_, Some(_)) => Err(EditError::Twice { key: key.to_owned() }),
            (found, None) => Ok(found),
        }
    }
}

fn after_space(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Where the value ends that begins here.
fn end_of_value(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut here = from;
    loop {
        match *bytes.get(here)? {
            b'"' => here = end_of_text(bytes, here)?,
            b'{' | b'[' => {
                depth += 1;
                here += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                here += 1;
            }
            // A number or a word, or what stands between the items of a deeper one.
            _ => here += 1,
        }
        let is_over = bytes
            .get(here)
            .is_none_or(|byte| matches!(byte, b',' | b':' | b'}' | b']') || byte.is_ascii_whitespace());
        if depth == 0 && is_over {
            return Some(here);
        }
    }
}

fn end_of_text(bytes: &[u8], from: usize) -> Option<usize> {
    let mut here = from + 1;
    loop {
        match *bytes.get(here)? {
            b'"' => return Some(here + 1),
            b'\\' => here += 2,
            _ => here += 1,
        }
    }
}
