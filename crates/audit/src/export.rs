//! The record as a file: one JSON object a line, records with their hash and heads as `{"head": …}`.
//!
//! A line holds a record's text as it was hashed, with the hash put behind it, so that whoever has the public key can
//! prove the file without us. What is read here comes from a stranger: a line has a bound.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use crate::chain::MOST_BODY_BYTES;
use crate::head::Head;
use crate::hex::{Digest, PublicKey};
use crate::verdict::Verdict;
use crate::verify::{Row, Verifier};

/// The most bytes of a line: a record and its hash.
pub const MOST_LINE_BYTES: usize = MOST_BODY_BYTES + 128;

const BEFORE_HASH: &str = ",\"hash\":\"";
const AFTER_HASH: &str = "\"}";

/// Why a file was not proven to its end. What was proven is not told, for it would be taken for all.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It could not be read.
    #[error("cannot read line {line}: {source}")]
    Read {
        /// The line, counted from 1.
        line: u64,
        /// The system's word.
        source: std::io::Error,
    },
    /// A line is longer than any record.
    #[error("line {line} has more than {MOST_LINE_BYTES} bytes")]
    TooLong {
        /// The line, counted from 1.
        line: u64,
    },
    /// A line is neither a record nor a head.
    #[error("line {line} is neither a record nor a head")]
    NotARecord {
        /// The line, counted from 1.
        line: u64,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadLine {
    head: Head,
}

/// A record as a line, without its end.
pub fn record_line(body: &str, hash: &Digest) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    format!("{open}{BEFORE_HASH}{hash}{AFTER_HASH}")
}

/// A head as a line, without its end.
pub fn head_line(head: &Head) -> String {
    // A struct of numbers and texts always has a JSON form.
    serde_json::to_string(&HeadLine { head: *head }).unwrap_or_default()
}

/// Reads a head back from its line.
pub fn read_head_line(line: &[u8]) -> Option<Head> {
    serde_json::from_slice::<HeadLine>(line).ok().map(|line| line.head)
}

/// Takes a record's line apart into its text as it was hashed, and its hash.
fn read_record_line(line: &[u8]) -> Option<(Vec<u8>, Digest)> {
    let rest = line.strip_suffix(AFTER_HASH.as_bytes())?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let hash = Digest::parse(std::str::from_utf8(hash).ok()?).ok()?;
    let mut body = rest.strip_suffix(BEFORE_HASH.as_bytes())?.to_vec();
    body.push(b'}');
    Some((body, hash))
}

/// Proves a file line by line.
#[derive(Debug)]
pub struct ExportReader<R> {
    from: R,
    verifier: Verifier,
    line: u64,
}

impl<R: BufRead> ExportReader<R> {
    /// A proof of what is read, by the heads of this key.
    pub const fn new(from: R, key: PublicKey) -> Self {
        Self { from, verifier: Verifier::new(key), line: 0 }
    }

    /// Reads to the end.
    pub fn verify(mut self) -> Result<Verdict, ExportError> {
        let mut line = Vec::new();
        while self.next_line(&mut line)? {
            self.take(&line)?;
        }
        Ok(self.verifier.finish())
    }

    fn take(&mut self, line: &[u8]) -> Result<(), ExportError> {
        if let Some((body, hash)) = read_record_line(line) {
            // A line has no number but the one in its text; a text without one cannot be read, and is told so.
            let seq = crate::record::Facts::parse(&body).ok().and_then(|facts| i64::try_from(facts.seq).ok());
            match seq {
                Some(seq) => {
                    self.verifier.row(&Row { seq, body: &body, hash: hash.as_bytes(), found_by: None });
                }
                None => self.verifier.unreadable_row(),
            }
            return Ok(());
        }
        match read_head_line(line) {
            Some(head) => self.verifier.head(&head),
            None => return Err(ExportError::NotARecord { line: self.line }),
        }
        Ok(())
    }

    /// The next line without its end; false at the end of the file.
    fn next_line(&mut self, line: &mut Vec<u8>) -> Result<bool, ExportError> {
        line.clear();
        self.line += 1;
        loop {
            let read = self.from.fill_buf();
            let bytes = match read {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(ExportError::Read { line: self.line, source }),
            };
            if bytes.is_empty() {
                return Ok(!line.is_empty());
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            if line.len() + part.len() > MOST_LINE_BYTES {
                return Err(ExportError::TooLong { line: self.line });
            }
            line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.from.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}
