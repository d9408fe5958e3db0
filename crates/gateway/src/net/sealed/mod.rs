//! Sealed secrets: the guest holds a placeholder, and the gateway puts the value in where its owner said.
//!
//! A value must never reach the guest, another host, another place of a request, or plain http; a placeholder
//! anywhere but in its place is refused. Start reading at [`Seal`]; `place` does the work.

mod place;
mod seal;
mod streamed;

pub(super) use place::Sent;
pub use seal::{Place, Seal, SealError};
pub(crate) use streamed::Header;

use std::borrow::Cow;
use std::fmt::Write as _;

use super::percent;
use bailiwick_redact::{Redactor, RedactorError, Secret};
use bailiwick_types::Refused;

/// The fewest characters of a sealed value: what is shorter could be found in an answer by guessing.
const LEAST_CHARACTERS: usize = 16;

/// What stands for a text that cannot be shown.
const MASK: &str = "***";

/// How often percent signs are undone in a search.
const PERCENT_ROUNDS: usize = 3;

/// One sealed secret, as a call has it.
#[derive(Debug)]
pub struct Sealed {
    name: String,
    seal: Seal,
    value: Secret,
    placeholder: String,
}

impl Sealed {
    /// Seals a value, with a placeholder that nobody can guess.
    pub fn new(name: impl Into<String>, seal: Seal, value: Secret) -> Result<Self, SealError> {
        Self::check(&value)?;
        let mut random = [0; 16];
        bailiwick_sys::clock::random(&mut random).map_err(|errno| SealError::NoRandomness(errno.into()))?;
        let placeholder = random.iter().fold("sealed-".to_owned(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { name: name.into(), seal, value, placeholder })
    }

    /// Whether a value can be sealed at all.
    pub fn check(value: &Secret) -> Result<(), SealError> {
        let text = value.expose_secret();
        if text.chars().nth(LEAST_CHARACTERS - 1).is_none() {
            return Err(SealError::TooShort);
        }
        if text.chars().any(char::is_control) {
            return Err(SealError::ControlCharacter);
        }
        Ok(())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the guest gets instead of the value.
    pub fn placeholder(&self) -> &str {
        &self.placeholder
    }

    /// The value in every spelling that letter case may have given it on the way: hosts and header names are
    /// written small by whoever reads them.
    fn spellings(&self) -> Vec<Secret> {
        let value = self.value.expose_secret();
        [value.to_owned(), value.to_ascii_lowercase(), value.to_ascii_uppercase()].map(Secret::new).into()
    }
}

/// The sealed secrets of a call.
#[derive(Debug, Default)]
pub struct SealedSet {
    items: Vec<Sealed>,
    placeholders: Redactor,
    values: Redactor,
    /// One for each item, to tell whose value an echo is.
    each: Vec<Redactor>,
}

impl SealedSet {
    /// Learns them. This takes milliseconds where there are any; the set may be shared by calls.
    pub fn new(items: Vec<Sealed>) -> Result<Self, RedactorError> {
        let placeholders: Vec<Secret> =
            items.iter().map(|sealed| Secret::new(sealed.placeholder.clone())).collect();
        let values: Vec<Secret> = items.iter().flat_map(Sealed::spellings).collect();
        let each = items.iter().map(|sealed| Redactor::new(&sealed.spellings())).collect::<Result<_, _>>()?;
        Ok(Self { placeholders: Redactor::new(&placeholders)?, values: Redactor::new(&values)?, each, items })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Sealed> {
        self.items.iter()
    }

    /// Bytes of an answer without any value.
    pub(super) fn clean_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.values.redact_bytes(&bytes) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => bytes,
        }
    }

    /// Text without any value. One that holds a value behind several rounds of percent-encoding is masked as a whole.
    pub(super) fn clean(&self, text: String) -> String {
        let clean = match self.values.redact(&text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        };
        if self.hides_value(clean.as_bytes()) { MASK.to_owned() } else { clean }
    }

    /// Whether a value stands in a text when its percent-encoding is undone, once or several times.
    fn hides_value(&self, text: &[u8]) -> bool {
        let mut text = Cow::Borrowed(text);
        for _ in 0..PERCENT_ROUNDS {
            if self.is_empty() || !text.contains(&b'%') {
                return false;
            }
            text = Cow::Owned(percent::decode(&text));
            if matches!(self.values.redact_bytes(&text), Cow::Owned(_)) {
                return true;
            }
        }
        false
    }

    /// The value of a header without any value of ours.
    pub(super) fn clean_header(&self, bytes: &[u8]) -> Vec<u8> {
        let clean = self.clean_bytes(bytes.to_vec());
        if self.hides_value(&clean) { MASK.as_bytes().to_vec() } else { clean }
    }

    /// A line that may have been cut, without any value or the beginning of one.
    pub(super) fn clean_cut(&self, line: &str) -> String {
        let clean = self.values.redact_cut(line).into_owned();
        if self.hides_value(clean.as_bytes()) { MASK.to_owned() } else { clean }
    }

    /// A refusal without any value.
    pub(super) fn clean_refused(&self, mut refused: Refused) -> Refused {
        if self.is_empty() {
            return refused;
        }
        if let Some(denial) = &mut refused.denied {
            // It was cut to one line, and may end within a value.
            let clean = self.clean_cut(&denial.asked);
            refused.message = refused.message.replace(&denial.asked, &clean);
            denial.asked = clean;
        }
        refused.message = self.clean(refused.message);
        refused.hint = refused.hint.map(|hint| self.clean(hint));
        if let Some(fix) = refused.denied.as_mut().and_then(|denial| denial.fix.as_mut())
            && let Ok(clean) = serde_json::from_str(&self.clean(fix.overrides.to_string()))
        {
            fix.overrides = clean;
        }
        refused
    }
}
