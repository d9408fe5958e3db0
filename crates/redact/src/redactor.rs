//! The front door: built once per version of the secret set, shared by every text that leaves.
//!
//! It must never be rebuilt per call (building takes milliseconds, cloning nothing), and must never say
//! which secret it found. Start at [`Redactor::new`] and [`Redactor::redact`].

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::decoded::{Known, Part, Search};
use crate::disguise::{self, Patterns};
use crate::matcher::{Matcher, TABLE_LIMIT};
use crate::regions::Regions;
use crate::sieve::Sieve;
use crate::stream::RedactStream;
use crate::{Secret, mask};

/// Masks a set of secrets, and their disguises, in text. A clone shares the automaton.
///
/// The default one knows no secret, changes nothing and costs nothing.
#[derive(Clone, Default)]
pub struct Redactor {
    knowledge: Option<Arc<Knowledge>>,
    too_short: usize,
}

/// What a set with at least one pattern needs.
pub(crate) struct Knowledge {
    pub(crate) matcher: Matcher,
    pub(crate) sieve: Sieve,
    pub(crate) mask: String,
    patterns: usize,
}

/// Why a set of secrets cannot be redacted. Each variant is named after the step that failed; none says
/// anything about a value.
#[derive(Debug, thiserror::Error)]
pub enum RedactorError {
    /// The values and their disguises together are larger than an automaton may become.
    #[error("the secrets and their disguises take {bytes} bytes, more than the {limit} that can be redacted")]
    SumPatterns {
        /// What they take.
        bytes: usize,
        /// What they may take.
        limit: usize,
    },
    /// The values hold every character there is, so any mask could spell one of them.
    #[error("no mask can be told from the secrets")]
    ChooseMask,
    /// The automaton cannot be built.
    #[error("cannot build the automaton that finds the secrets")]
    BuildAutomaton(#[source] aho_corasick::BuildError),
    /// The automaton has no state to start from.
    #[error("cannot start the automaton that finds the secrets")]
    StartAutomaton(#[source] aho_corasick::MatchError),
}

impl Redactor {
    /// Learns the secrets; they may be dropped afterwards.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Result<Self, RedactorError> {
        Self::with_table_limit(secrets, TABLE_LIMIT)
    }

    pub(crate) fn with_table_limit<'a>(
        secrets: impl IntoIterator<Item = &'a Secret>,
        table_limit: usize,
    ) -> Result<Self, RedactorError> {
        let Patterns { texts, too_short } = disguise::patterns(secrets);
        if texts.is_empty() {
            return Ok(Self { knowledge: None, too_short });
        }
        let matcher = Matcher::new(&texts, table_limit)?;
        let mask = mask::choose(&texts).ok_or(RedactorError::ChooseMask)?;
        let sieve = Sieve::new(&texts, matcher.states());
        let knowledge = Knowledge { matcher, sieve, mask, patterns: texts.len() };
        Ok(Self { knowledge: Some(Arc::new(knowledge)), too_short })
    }

    /// How many of the values are too short to be masked anywhere: under 4 characters. Not which.
    pub fn too_short(&self) -> usize {
        self.too_short
    }

    /// The text with every secret and disguise masked; borrowed if there was none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some((knowledge, regions)) = self.find(text.as_bytes()) else {
            return Cow::Borrowed(text);
        };
        let mut output = String::with_capacity(text.len());
        let mut clear_from = 0;
        for region in regions.iter() {
            // Regions begin and end on character boundaries because all patterns are UTF-8. Were it
            // otherwise, this would lose text rather than print a secret.
            output.push_str(text.get(clear_from..region.start).unwrap_or_default());
            output.push_str(&knowledge.mask);
            clear_from = region.end;
        }
        output.push_str(text.get(clear_from..).unwrap_or_default());
        Cow::Owned(output)
    }

    /// The same for a text whose end was cut off: what a secret begins with at its end is masked as well.
    pub fn redact_cut<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let (mut stream, mut output) = (self.stream(), Vec::with_capacity(text.len()));
        stream.push(text.as_bytes(), &mut output);
        stream.finish_cut(&mut output);
        // What is held back begins where a pattern may begin, which is between characters.
        match String::from_utf8(output) {
            Ok(output) if output == text => Cow::Borrowed(text),
            Ok(output) => Cow::Owned(output),
            Err(odd) => Cow::Owned(String::from_utf8_lossy(odd.as_bytes()).into_owned()),
        }
    }

    /// The same for bytes that need not be UTF-8.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some((knowledge, regions)) = self.find(bytes) else {
            return Cow::Borrowed(bytes);
        };
        let mut output = Vec::with_capacity(bytes.len());
        let mut clear_from = 0;
        for region in regions.iter() {
            output.extend_from_slice(bytes.get(clear_from..region.start).unwrap_or_default());
            output.extend_from_slice(knowledge.mask.as_bytes());
            clear_from = region.end;
        }
        output.extend_from_slice(bytes.get(clear_from..).unwrap_or_default());
        Cow::Owned(output)
    }

    /// Whether a secret or a disguise of one is in these bytes.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.find(bytes).is_some()
    }

    /// Redacts a text that comes in chunks, also where a secret is split over them.
    pub fn stream(&self) -> RedactStream {
        RedactStream::new(self.knowledge.clone())
    }

    /// How much work the search behind escapes is, in steps.
    #[cfg(test)]
    pub(crate) fn work(&self, bytes: &[u8]) -> usize {
        let Some(knowledge) = self.knowledge.as_deref() else { return 0 };
        let part = Part { bytes, origin: 0, is_whole: true };
        let known = Known { at: 0, state: knowledge.matcher.start() };
        let mut search = Search::default();
        search.read(knowledge, part, known, &mut Regions::default());
        search.work()
    }

    /// What is to be masked, if anything.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<(&Knowledge, Regions)> {
        let knowledge = self.knowledge.as_deref()?;
        let (mut regions, mut decoded) = (Regions::default(), Regions::default());
        let start = knowledge.matcher.start();
        knowledge.matcher.scan(start, bytes, 0, &mut regions);
        let part = Part { bytes, origin: 0, is_whole: true };
        Search::default().read(knowledge, part, Known { at: 0, state: start }, &mut decoded);
        regions.merge(decoded);
        (!regions.is_empty()).then_some((knowledge, regions))
    }
}

impl fmt::Debug for Redactor {
    /// The automaton spells the secrets, so it is never printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns = self.knowledge.as_ref().map_or(0, |knowledge| knowledge.patterns);
        f.debug_struct("Redactor")
            .field("patterns", &patterns)
            .field("too_short", &self.too_short)
            .finish_non_exhaustive()
    }
}
