//! A text as a reader takes it: look-alikes, widths, accents, case and escapes folded away, each letter with the
//! place it came from.
//!
//! Nothing here judges. A fold may lose differences, never places: every letter knows its bytes in the original.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::characters::is_invisible;
use crate::scripts::look_alike;

/// A folded character and the bytes it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) character: char,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Folds a text that begins at `base` of the original.
pub(crate) fn fold(text: &str, base: usize) -> Vec<Letter> {
    let mut letters = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut at = base;
    while let Some(first) = rest.chars().next() {
        let (character, length) = unescape(rest).unwrap_or((first, first.len_utf8()));
        fold_character(character, |folded| {
            letters.push(Letter { character: folded, start: at, end: at + length });
        });
        at += length;
        rest = rest.get(length..).unwrap_or_default();
    }
    letters
}

/// A short text folded, for comparing with what was folded: names, and the words of patterns.
pub(crate) fn fold_text(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        fold_character(character, |c| folded.push(c));
    }
    folded
}

fn fold_character(character: char, mut push: impl FnMut(char)) {
    if character.is_ascii() {
        push(character.to_ascii_lowercase());
        return;
    }
    if let Some(hidden) = tagged(character) {
        push(hidden.to_ascii_lowercase());
        return;
    }
    if is_invisible(character) {
        return;
    }
    if let Some(plain) = boxed(character) {
        push(plain);
        return;
    }
    if let Some(plain) = punctuation(character) {
        push(plain);
        return;
    }
    // Before the case is folded: capitals look like other letters than their small ones do.
    if let Some(latin) = look_alike(character) {
        push(latin);
        return;
    }
    for part in std::iter::once(character).nfkd().filter(|part| !is_combining_mark(*part)) {
        for small in part.to_lowercase() {
            push(look_alike(small).unwrap_or(small));
        }
    }
}

/// Signs that are written in several ways.
const fn punctuation(character: char) -> Option<char> {
    match character {
        '‘' | '’' | '‛' | '′' | 'ʼ' | 'ʻ' => Some('\''),
        '“' | '”' | '„' | '″' => Some('"'),
        '‐'..='―' | '−' | '⁃' => Some('-'),
        '⁄' | '∕' | '⧸' => Some('/'),
        '∶' | '꞉' | 'ː' => Some(':'),
        '‹' | '\u{2329}' | '\u{3008}' | '❮' => Some('<'),
        '›' | '\u{232A}' | '\u{3009}' | '❯' => Some('>'),
        '∣' | 'ǀ' | '│' => Some('|'),
        '。' | '｡' => Some('.'),
        _ => None,
    }
}

/// The ASCII character that a tag character hides.
fn tagged(character: char) -> Option<char> {
    let code = u32::from(character).checked_sub(0xE_0000)?;
    char::from_u32(code).filter(|hidden| matches!(hidden, ' '..='~'))
}

/// Letters in boxes and circles, and the halves of flags, which no normal form unfolds.
fn boxed(character: char) -> Option<char> {
    let first = match character {
        '\u{1F1E6}'..='\u{1F1FF}' => 0x1_F1E6,
        '\u{1F150}'..='\u{1F169}' => 0x1_F150,
        '\u{1F170}'..='\u{1F189}' => 0x1_F170,
        _ => return None,
    };
    let index = u8::try_from(u32::from(character) - first).ok()?;
    Some(char::from(b'a' + index))
}

/// The character that an escape at the beginning of the text stands for, and the escape's length.
fn unescape(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().first()? {
        b'&' => entity(text),
        b'\\' => backslash(text),
        b'%' => {
            let byte = u8::from_str_radix(hex_digits(text.get(1..3)?)?, 16).ok()?;
            byte.is_ascii().then_some((char::from(byte), 3))
        }
        _ => None,
    }
}

fn hex_digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())).then_some(text)
}

fn entity(text: &str) -> Option<(char, usize)> {
    const NAMED: [(&str, char); 10] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&amp;", '&'),
        ("&quot;", '"'),
        ("&apos;", '\''),
        ("&nbsp;", ' '),
        ("&sol;", '/'),
        ("&period;", '.'),
        ("&lowbar;", '_'),
        ("&NewLine;", '\n'),
    ];
    if let Some((name, character)) = NAMED.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((*character, name.len()));
    }
    let number = text.strip_prefix("&#")?;
    let length = number.bytes().take(10).position(|b| b == b';')?;
    let digits = number.get(..length)?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex_digits(hex)?, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((char::from_u32(code)?, "&#".len() + length + 1))
}

fn backslash(text: &str) -> Option<(char, usize)> {
    let (digits, length) = match text.as_bytes().get(1)? {
        b'x' => (text.get(2..4)?, 4),
        b'u' if text.as_bytes().get(2) == Some(&b'{') => {
            let inside = text.get(3..)?;
            let length = inside.bytes().take(7).position(|b| b == b'}')?;
            (inside.get(..length)?, length + 4)
        }
        b'u' => (text.get(2..6)?, 6),
        _ => return None,
    };
    Some((char::from_u32(u32::from_str_radix(hex_digits(digits)?, 16).ok()?)?, length))
}

/// A folded text to be searched, and the way back to the original.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) text: String,
    /// Where each letter begins here, and which bytes it stands for.
    places: Vec<(usize, usize, usize)>,
}

impl View {
    fn push(&mut self, character: char, letter: Letter) {
        self.places.push((self.text.len(), letter.start, letter.end));
        self.text.push(character);
    }

    fn last(&self) -> Option<char> {
        self.text.chars().next_back()
    }

    /// The bytes of the original that a range of this text stands for, spaces at its ends left out.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        let inside = self.text.get(range.clone()).unwrap_or_default();
        let first = range.start + (inside.len() - inside.trim_start().len());
        let last = range.end - (inside.len() - inside.trim_end().len());
        let from = self.places.partition_point(|(at, _, _)| *at < first);
        let to = self.places.partition_point(|(at, _, _)| *at < last);
        let places = self.places.get(from..to).unwrap_or_default();
        let start = places.iter().map(|(_, start, _)| *start).min();
        let end = places.iter().map(|(_, _, end)| *end).max();
        start.zip(end).map_or(0..0, |(start, end)| start..end)
    }

    /// The text with its punctuation; a run of white space is one space, or one line break.
    pub(crate) fn plain(letters: &[Letter]) -> Self {
        let mut view = Self::default();
        for letter in letters {
            let line_break = matches!(letter.character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
            if !letter.character.is_whitespace() {
                view.push(letter.character, *letter);
                continue;
            }
            match view.last() {
                Some(' ') if line_break => {
                    view.text.pop();
                    view.places.pop();
                    view.push('\n', *letter);
                }
                Some('\n' | ' ') => {}
                _ => view.push(if line_break { '\n' } else { ' ' }, *letter),
            }
        }
        view
    }

    /// The words alone, one space between them; digits and signs that stand for letters are those letters.
    pub(crate) fn words(letters: &[Letter]) -> Self {
        let mut view = Self::default();
        for (index, letter) in letters.iter().enumerate() {
            let next = letters.get(index + 1).map(|next| next.character);
            let inside =
                view.last().is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric);
            match letter.character {
                '\'' | '`' if inside => {}
                sign if inside && sign_as_letter(sign).is_some() => {
                    view.push(sign_as_letter(sign).unwrap_or(sign), *letter);
                }
                character if character.is_alphanumeric() => view.push(skeleton(character), *letter),
                _ if view.last().is_some_and(|last| last != ' ') => view.push(' ', *letter),
                _ => {}
            }
        }
        view
    }

    /// The letters alone, nothing between them: no spaces, no signs, no tags.
    pub(crate) fn tight(letters: &[Letter]) -> Self {
        let mut view = Self::default();
        let mut index = 0;
        while let Some(letter) = letters.get(index) {
            let behind = letters.get(index + 1..).unwrap_or_default();
            index += 1;
            if letter.character == '<' {
                index += tag(behind);
                continue;
            }
            let next = behind.first().is_some_and(|next| next.character.is_alphanumeric());
            match sign_as_letter(letter.character) {
                Some(sign) if next || sign == 's' => view.push(sign, *letter),
                None if letter.character.is_alphanumeric() => {
                    view.push(skeleton(letter.character), *letter);
                }
                _ => {}
            }
        }
        view
    }

    /// The same letters from the last to the first.
    pub(crate) fn reversed(&self) -> Self {
        let mut view = Self::default();
        for (character, (_, start, end)) in self.text.chars().rev().zip(self.places.iter().rev()) {
            view.push(character, Letter { character, start: *start, end: *end });
        }
        view
    }
}

/// The length of a short tag whose `<` stands before; 0 when there is none.
fn tag(behind: &[Letter]) -> usize {
    const LONGEST: usize = 40;
    let named =
        behind.first().is_some_and(|first| first.character.is_ascii_alphabetic() || first.character == '/');
    let end = behind.iter().take(LONGEST).position(|letter| letter.character == '>');
    if named { end.map_or(0, |end| end + 1) } else { 0 }
}

/// Letters turned by 13 places in the alphabet, from letters that were folded but are not yet skeletons.
pub(crate) fn turned(letters: &[Letter]) -> Vec<Letter> {
    let turn = |c: char| match c {
        'a'..='m' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        other => other,
    };
    letters.iter().map(|letter| Letter { character: turn(letter.character), ..*letter }).collect()
}

/// What digits look like, and `l` and `i` as one letter: `1gn0re` and `aII` read as they are meant.
pub(crate) const fn skeleton(character: char) -> char {
    match character {
        '0' => 'o',
        '1' | 'l' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        other => other,
    }
}

const fn sign_as_letter(sign: char) -> Option<char> {
    match sign {
        '@' => Some('a'),
        '$' => Some('s'),
        '!' | '|' | '¡' => Some('i'),
        '€' => Some('e'),
        _ => None,
    }
}
