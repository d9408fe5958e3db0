//! The messages of DNS (RFC 1035) as bytes: reads a question, writes its answer.
//!
//! Written by hand, so that an answer can be wrong. It reads questions of well-behaved clients only.

use std::net::IpAddr;

use super::script::Asked;

/// The largest answer over UDP to a client that does not say how much it takes.
const SHORT_MOST: usize = 512;

/// A question as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    id: [u8; 2],
    is_recursion_desired: bool,
    pub(super) name: String,
    pub(super) asked: Asked,
    /// The bytes of the name, the type and the class.
    bytes: Vec<u8>,
    /// How many bytes an answer over UDP may have.
    pub(super) most: usize,
}

/// One record of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    Address(String, IpAddr),
    Alias(String, String),
}

/// The outcome that an answer's head tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Fine = 0,
    ServerFailed = 2,
    NoSuchName = 3,
}

impl Question {
    /// Reads a question; `None` when it is none.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let (head, rest) = message.split_at_checked(12)?;
        let [id0, id1, flags, _, 0, 1, _, _, _, _, _, additional] = *head else { return None };
        let mut labels = Vec::new();
        let mut at = 0;
        loop {
            let length = usize::from(*rest.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            labels.push(String::from_utf8_lossy(rest.get(at..at + length)?).into_owned());
            at += length;
        }
        let asked = match *rest.get(at..at + 4)? {
            [0, 1, 0, 1] => Asked::V4,
            [0, 28, 0, 1] => Asked::V6,
            _ => Asked::Other,
        };
        // The OPT record of EDNS: no name, type 41, and the size where others have a class.
        let most = match (additional, rest.get(at + 4..at + 9)) {
            (1, Some(&[0, 0, 41, high, low])) => usize::from(u16::from_be_bytes([high, low])),
            _ => SHORT_MOST,
        };
        Some(Self {
            id: [id0, id1],
            is_recursion_desired: flags & 1 == 1,
            name: labels.join("."),
            asked,
            bytes: rest.get(..at + 4)?.to_vec(),
            most: most.max(SHORT_MOST),
        })
    }

    /// The answer with these records.
    pub(super) fn answer(&self, outcome: Outcome, records: &[Record]) -> Vec<u8> {
        self.message(false, outcome, records)
    }

    /// The answer that says that there is more than it can hold.
    pub(super) fn cut(&self) -> Vec<u8> {
        self.message(true, Outcome::Fine, &[])
    }

    fn message(&self, is_cut: bool, outcome: Outcome, records: &[Record]) -> Vec<u8> {
        let mut message = self.id.to_vec();
        message.push(0x80 | u8::from(is_cut) << 1 | u8::from(self.is_recursion_desired));
        message.push(0x80 | outcome as u8);
        let count = u16::try_from(records.len()).unwrap_or(u16::MAX);
        for number in [1, count, 0, 0] {
            message.extend(number.to_be_bytes());
        }
        message.extend(&self.bytes);
        for record in records.iter().take(count.into()) {
            self.write(&mut message, record);
        }
        message
    }

    fn write(&self, message: &mut Vec<u8>, record: &Record) {
        let (name, kind, data) = match record {
            Record::Address(name, IpAddr::V4(address)) => (name, 1_u16, address.octets().to_vec()),
            Record::Address(name, IpAddr::V6(address)) => (name, 28, address.octets().to_vec()),
            Record::Alias(name, target) => (name, 5, name_of(target)),
        };
        if *name == self.name {
            // A pointer to the name in the question.
            message.extend([0xc0, 12]);
        } else {
            message.extend(name_of(name));
        }
        message.extend(kind.to_be_bytes());
        // The class, and a life of no seconds: nobody may keep an answer.
        message.extend([0, 1, 0, 0, 0, 0]);
        message.extend(u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes());
        message.extend(data);
    }
}

/// A name as labels. Those of a script are short.
fn name_of(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.trim_end_matches('.').split('.').filter(|label| !label.is_empty()) {
        bytes.push(u8::try_from(label.len()).unwrap_or(63).min(63));
        bytes.extend(label.bytes().take(63));
    }
    bytes.push(0);
    bytes
}
