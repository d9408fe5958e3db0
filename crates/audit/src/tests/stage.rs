//! A chain in memory with its heads and a witness, to lay hands on.

use bailiwick_types::{CallId, CorrelationId, ToolId};
use serde_json::json;

use crate::{Actor, Entry, Head, Keys, Kind, Link, Row, ToolRef, Verdict, Verifier};

/// A row as it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lying {
    pub(super) seq: i64,
    pub(super) body: Vec<u8>,
    pub(super) hash: Vec<u8>,
}

/// A chain as it lies.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) rows: Vec<Lying>,
    pub(super) heads: Vec<Head>,
    pub(super) witness: Vec<Head>,
}

pub(super) fn keys() -> Keys {
    Keys::from_seed(&[7; 32]).unwrap()
}

pub(super) fn foreign_keys() -> Keys {
    Keys::from_seed(&[8; 32]).unwrap()
}

pub(super) fn entry(number: u64) -> Entry {
    let actor = Actor { key: Some("ci".to_owned()), client: "cli".to_owned() };
    let mut entry = Entry::new(Kind::Outcome, actor, "tool.call");
    entry.call_id = Some(CallId::from_parts(number, &[1; 10]));
    entry.correlation_id = Some(CorrelationId::parse("req-1").unwrap());
    let id = ToolId::from_parts(9, &[2; 10]);
    entry.tool = Some(ToolRef { id: Some(id), name: "echo".to_owned(), hash: Some("ab".to_owned()) });
    entry.arguments = Some(json!({"n": number}));
    entry
}

/// Lays a row for each number on a link, told apart by what `salt` adds to the number.
pub(super) fn rows_from(mut link: Link, count: u64, salt: u64) -> Vec<Lying> {
    (0..count)
        .map(|_| {
            let sealed = link.next(&entry(link.seq + salt), 1_700_000_000_000 + link.seq).unwrap();
            link = sealed.link();
            Lying {
                seq: i64::try_from(sealed.seq).unwrap(),
                body: sealed.body.into_bytes(),
                hash: sealed.hash.0.to_vec(),
            }
        })
        .collect()
}

impl Lying {
    pub(super) fn link(&self) -> Link {
        let hash = crate::Digest::from_slice(&self.hash).unwrap();
        Link { seq: u64::try_from(self.seq).unwrap(), hash }
    }
}

impl Chain {
    /// A chain of so many records, with a head after every fourth.
    pub(super) fn of(count: u64) -> Self {
        let rows = rows_from(Link::START, count, 0);
        let signed = rows.iter().filter(|row| row.seq % 4 == 0).map(Lying::link);
        let heads: Vec<Head> = signed.map(|link| keys().sign(link.seq, link.hash, 5, 0)).collect();
        Self { rows, witness: heads.clone(), heads }
    }

    /// What retention leaves: the rows after a signed one, and its head signed anew.
    pub(super) fn cut_to(mut self, seq: u64) -> Self {
        let row = self.rows.iter().find(|row| row.seq.unsigned_abs() == seq).unwrap();
        let base = keys().sign(seq, row.link().hash, 9, seq);
        self.rows.retain(|row| row.seq.unsigned_abs() > seq);
        self.heads.retain(|head| head.seq > seq);
        self.heads.insert(0, base);
        self.witness.push(base);
        self
    }

    pub(super) fn verify(&self) -> Verdict {
        let mut verifier = Verifier::new(keys().public());
        self.witness.iter().chain(&self.heads).for_each(|head| verifier.head(head));
        // A table gives its rows in the order of their numbers.
        let mut rows = self.rows.clone();
        rows.sort_by_key(|row| row.seq);
        for Lying { seq, body, hash } in &rows {
            if !verifier.row(&Row { seq: *seq, body, hash, found_by: None }) {
                break;
            }
        }
        verifier.finish()
    }

    /// The chain as lines.
    pub(super) fn export(&self) -> String {
        let mut text = String::new();
        let mut heads = self.heads.iter().peekable();
        for row in &self.rows {
            while let Some(head) = heads.next_if(|head| i64::try_from(head.seq).unwrap() < row.seq) {
                text += &(crate::head_line(head) + "\n");
            }
            let hash = crate::Digest::from_slice(&row.hash).unwrap();
            text += &(crate::record_line(std::str::from_utf8(&row.body).unwrap(), &hash) + "\n");
        }
        heads.for_each(|head| text += &(crate::head_line(head) + "\n"));
        text
    }
}
