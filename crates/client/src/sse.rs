//! Server-sent events, read piece by piece. An event is bounded; comments only show that the server lives.

/// The most bytes of one event.
const MOST_BYTES: usize = 64 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its name; `message` where it has none.
    pub(crate) name: String,
    /// Its data.
    pub(crate) data: String,
}

/// An event that is longer than any of ours, or no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream cannot be read")]
pub(crate) struct Unreadable;

/// What came so far.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// The last byte ended a line as a carriage return, so that a line feed behind it belongs to it.
    after_return: bool,
}

impl Events {
    /// Takes bytes; gives the events that are complete with them.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Said>, Unreadable> {
        let mut complete = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    let line = String::from_utf8(line).map_err(|_| Unreadable)?;
                    complete.extend(self.line(&line)?);
                }
                other => {
                    if self.line.len() >= MOST_BYTES {
                        return Err(Unreadable);
                    }
                    self.line.push(*other);
                }
            }
        }
        Ok(complete)
    }

    fn line(&mut self, line: &str) -> Result<Option<Said>, Unreadable> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return Ok(self.data.take().map(|data| Said { name, data }));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) if data.len() + value.len() < MOST_BYTES => {
                    data.push('\n');
                    data.push_str(value);
                }
                Some(_) => return Err(Unreadable),
            },
            // A comment, an id, a time to wait: nothing here goes on from a place.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
