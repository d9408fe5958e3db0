//! Sealed secrets in bodies that pass by: neither a placeholder nor a value may be in a request's, and a value is taken out
//! of an answer's.
//!
//! A request's body is searched for placeholders in pieces that overlap, so one is found wherever it is cut; what a program
//! transforms by itself is not. A piece is passed on only after it was searched, and no byte of it that a value may have begun
//! with.

use std::sync::Arc;

use bailiwick_redact::RedactStream;
use bailiwick_types::DenialReason;

use super::message::{BodyFault, Look};
use crate::net::SealedSet;

/// How much of a piece is searched again with the next: longer than any disguise of a placeholder.
const OVERLAP: usize = 512;

/// Looks for placeholders and values in the body of a request.
pub(super) struct Watch {
    sealed: Arc<SealedSet>,
    seen: Vec<u8>,
    values: Option<RedactStream>,
}

impl Watch {
    /// Over a body, where there is anything to look for.
    pub(super) fn over(sealed: &Arc<SealedSet>) -> Option<Box<dyn Look>> {
        let watch = || Self { sealed: sealed.clone(), seen: Vec::new(), values: Some(sealed.cleaner()) };
        (!sealed.is_empty()).then(|| Box::new(watch()) as Box<dyn Look>)
    }
}

impl Look for Watch {
    fn piece(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.seen.extend_from_slice(piece);
        if self.sealed.finds_placeholder(&self.seen) {
            return Err(BodyFault::Stopped(DenialReason::SealedPlace));
        }
        let gone = self.seen.len().saturating_sub(OVERLAP);
        self.seen.drain(..gone);
        let Some(values) = &mut self.values else { return Err(BodyFault::Cut) };
        values.push(piece, out);
        if values.has_found() { Err(BodyFault::Stopped(DenialReason::SealedValue)) } else { Ok(()) }
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        match self.values.take().map(|values| values.finish(out)) {
            Some(true) => Err(BodyFault::Stopped(DenialReason::SealedValue)),
            Some(false) => Ok(()),
            None => Err(BodyFault::Cut),
        }
    }
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
            None => return Err(BodyFault::Cut),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), BodyFault> {
        self.0.take().map_or(Err(BodyFault::Cut), |stream| {
            stream.finish(out);
            Ok(())
        })
    }
}
