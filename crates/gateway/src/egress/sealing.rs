//! Sealed secrets in bodies that pass by: a placeholder must not be in a request's, a value is taken out of an answer's.
//!
//! A request's body is searched in pieces that overlap, so a placeholder is found wherever it is cut; what a program
//! transforms by itself is not. A piece is passed on only after it was searched.

use std::sync::Arc;

use bailiwick_redact::RedactStream;

use super::message::{BodyFault, Look};
use crate::net::SealedSet;

/// How much of a piece is searched again with the next: longer than any disguise of a placeholder.
const OVERLAP: usize = 512;

/// Looks for placeholders in the body of a request.
pub(super) struct Watch {
    sealed: Arc<SealedSet>,
    seen: Vec<u8>,
}

impl Watch {
    /// Over a body, where there is anything to look for.
    pub(super) fn over(sealed: &Arc<SealedSet>) -> Option<Box<dyn Look>> {
        (!sealed.is_empty())
            .then(|| Box::new(Self { sealed: sealed.clone(), seen: Vec::new() }) as Box<dyn Look>)
    }
}

impl Look for Watch {
    fn piece(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.seen.extend_from_slice(piece);
        if self.sealed.finds_placeholder(&self.seen) {
            return Err(BodyFault::Stopped);
        }
        let gone = self.seen.len().saturating_sub(OVERLAP);
        self.seen.drain(..gone);
        out.extend_from_slice(piece);
        Ok(())
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// Takes values out of the body of an answer.
pub(super) struct Cleaner(Option<RedactStream>);

impl Cleaner {
    pub(super) fn boxed(sealed: &SealedSet) -> Box<dyn Look> {
        Box::new(Self(Some(sealed.cleaner())))
    }
}

impl Look for Cleaner {
    fn piece(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match &mut self.0 {
            Some(stream) => stream.push(piece, out),
            None => return Err(BodyFault::Stopped),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if let Some(stream) = self.0.take() {
            stream.finish(out);
        }
    }
}
