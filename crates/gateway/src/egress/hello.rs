//! The first message of a TLS client, read only for the name of the server in it.
//!
//! It must never accept what a server could read differently: one greeting, one name, lengths that fit exactly. What is
//! behind an encrypted greeting is not seen; the outer name is the one that counts.

/// The most that a greeting may take, with the framing around it.
pub(super) const MOST_BYTES: usize = 20 * 1024;
/// The most of it without the framing.
const MOST_GREETING: usize = 16 * 1024;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// What the first bytes of a connection are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hello {
    /// The beginning of a greeting; more is needed.
    Partial,
    /// A whole greeting with the server's name as it is written there, or without one.
    Whole {
        /// The name.
        name: Option<String>,
    },
    /// Not a greeting, or not a sound one.
    Unsound(&'static str),
}

/// Reads the first bytes of a connection.
pub fn read_hello(bytes: &[u8]) -> Hello {
    match greeting(bytes) {
        Ok(Some(greeting)) => match name_in(&greeting) {
            Ok(name) => Hello::Whole { name },
            Err(why) => Hello::Unsound(why),
        },
        Ok(None) => Hello::Partial,
        Err(why) => Hello::Unsound(why),
    }
}

/// The greeting without the records around it; nothing while some of it is missing.
fn greeting(bytes: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let mut records = Cursor(bytes);
    let mut message = Vec::new();
    loop {
        if let Some((&kind, rest)) = message.split_first() {
            if kind != CLIENT_HELLO {
                return Err("the first message of TLS is not a client's greeting");
            }
            if let Some(length) = Cursor(rest).number(3) {
                if length > MOST_GREETING {
                    return Err("the greeting of TLS is larger than it may be");
                }
                match message.len().cmp(&(4 + length)) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => return Ok(Some(message.split_off(4))),
                    std::cmp::Ordering::Greater => return Err("there is more in the greeting's record"),
                }
            }
        }
        let Some(kind) = records.number(1) else { return Ok(None) };
        if kind != usize::from(HANDSHAKE) {
            return Err("this is not TLS");
        }
        let Some(major) = records.number(1) else { return Ok(None) };
        if major != 3 {
            return Err("this is not TLS");
        }
        if records.number(1).is_none() {
            return Ok(None);
        }
        let Some(length) = records.number(2) else { return Ok(None) };
        if length == 0 || length > MOST_GREETING {
            return Err("a record of TLS has a length that none may have");
        }
        let Some(fragment) = records.bytes(length) else { return Ok(None) };
        message.extend_from_slice(fragment);
        if message.len() > 4 + MOST_GREETING {
            return Err("the greeting of TLS is larger than it may be");
        }
    }
}

fn name_in(greeting: &[u8]) -> Result<Option<String>, &'static str> {
    const CUT: &str = "the greeting of TLS has lengths that do not fit";
    let mut greeting = Cursor(greeting);
    greeting.bytes(2 + 32).ok_or(CUT)?;
    greeting.vector(1).ok_or(CUT)?;
    greeting.vector(2).ok_or(CUT)?;
    greeting.vector(1).ok_or(CUT)?;
    if greeting.0.is_empty() {
        return Ok(None);
    }
    let mut extensions = Cursor(greeting.vector(2).ok_or(CUT)?);
    if !greeting.0.is_empty() {
        return Err(CUT);
    }
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2).ok_or(CUT)?;
        let content = extensions.vector(2).ok_or(CUT)?;
        if kind != usize::from(SERVER_NAME) {
            continue;
        }
        if found.is_some() {
            return Err("the greeting of TLS names two servers");
        }
        let mut list = Cursor(content);
        let mut names = Cursor(list.vector(2).ok_or(CUT)?);
        let kind = names.number(1).ok_or(CUT)?;
        let name = names.vector(2).ok_or(CUT)?;
        if !list.0.is_empty() || !names.0.is_empty() || kind != usize::from(HOST_NAME) {
            return Err("the greeting of TLS names more than one server");
        }
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || !name.iter().all(is_plain) {
            return Err("the name in the greeting of TLS is no name");
        }
        found = Some(String::from_utf8_lossy(name).into_owned());
    }
    Ok(found)
}

/// Bytes that are still to be read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of that many bytes.
    fn number(&mut self, count: usize) -> Option<usize> {
        self.bytes(count).map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Bytes behind a length of that many bytes.
    fn vector(&mut self, count: usize) -> Option<&'a [u8]> {
        let length = self.number(count)?;
        self.bytes(length)
    }
}
