//! Characters that are not seen, or that change how others are: found by their numbers, one pass over the text.
//!
//! Honest uses are let through: joiners inside emoji and in scripts that need them, marks of direction beside letters
//! that are written from right to left, selectors behind what they vary.

use std::iter::Peekable;
use std::str::CharIndices;

use crate::context::Kind;
use crate::finding::Found;
use crate::rule::Rule;

/// Characters without width or look: a fold leaves them out.
pub(crate) const fn is_invisible(character: char) -> bool {
    is_zero_width(character) || is_bidi(character) || is_selector(character) || is_tag(character)
}

const fn is_zero_width(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}'
            | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{2800}'
            | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}'
    )
}

const fn is_bidi(character: char) -> bool {
    matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

const fn is_selector(character: char) -> bool {
    matches!(character, '\u{FE00}'..='\u{FE0F}' | '\u{180B}'..='\u{180D}' | '\u{180F}' | '\u{E0100}'..='\u{E01EF}')
}

const fn is_tag(character: char) -> bool {
    matches!(character, '\u{E0000}'..='\u{E007F}')
}

/// Control characters; `\r` is one unless a line break follows.
fn is_control(character: char, next: Option<char>) -> bool {
    match character {
        '\t' | '\n' | '\u{1B}' | '\u{9B}' => false,
        '\r' => !matches!(next, Some('\n') | None),
        // The separators of lines and paragraphs are white space; what is reserved or for private use shows nothing.
        other => other.is_control(),
    }
}

/// Letters written from right to left.
const fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFE}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// Scripts whose letters are joined or kept apart by a joiner: Arabic and the scripts of India and its neighbours.
const fn takes_joiners(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{109F}' | '\u{1780}'..='\u{18AF}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}')
}

/// Pictures and signs, as far as one may join or vary them.
const fn is_picture(character: char) -> bool {
    matches!(
        character,
        '©' | '®' | '\u{203C}' | '\u{2049}' | '\u{2100}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
            | '\u{1F000}'..='\u{1FAFF}'
    )
}

const fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{2E80}'..='\u{303F}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// Looks for all of them.
pub(crate) fn look(text: &str, kind: Kind, found: &mut Found) {
    let right_to_left = text.chars().any(is_right_to_left);
    let mut walk = Walk { text, kind, right_to_left, before: None, rest: text.char_indices().peekable() };
    while let Some((at, character)) = walk.rest.next() {
        if !character.is_ascii_graphic() && character != ' ' {
            walk.look_at(at, character, found);
        }
        walk.before = Some(character);
    }
}

struct Walk<'a> {
    text: &'a str,
    kind: Kind,
    right_to_left: bool,
    before: Option<char>,
    rest: Peekable<CharIndices<'a>>,
}

impl Walk<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, character)| *character)
    }

    /// Takes the characters that go on as the first one, and gives the end of the last.
    fn run(&mut self, first_end: usize, goes_on: impl Fn(char) -> bool) -> usize {
        let mut end = first_end;
        while let Some((at, character)) = self.rest.next_if(|(_, character)| goes_on(*character)) {
            end = at + character.len_utf8();
        }
        end
    }

    fn look_at(&mut self, at: usize, character: char, found: &mut Found) {
        let end = at + character.len_utf8();
        if matches!(character, '\u{1B}' | '\u{9B}') {
            found.add(
                Rule::AnsiEscape,
                at..end + sequence(self.text.get(end..).unwrap_or_default(), character),
            );
        } else if is_control(character, self.next()) {
            let end = self.run(end, |c| c != '\r' && is_control(c, None));
            found.add(Rule::ControlCharacter, at..end);
        } else if is_zero_width(character) {
            let lone = !self.next().is_some_and(is_zero_width);
            let fine = lone && self.is_fine_joiner(at, character);
            let end = self.run(end, is_zero_width);
            if !fine {
                found.add(Rule::ZeroWidth, at..end);
            }
        } else if is_bidi(character) {
            let mark = matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}');
            let fine = mark && self.right_to_left && !self.next().is_some_and(is_bidi);
            let end = self.run(end, is_bidi);
            if !fine {
                found.add(Rule::BidiControl, at..end);
            }
        } else if is_tag(character) {
            let end = self.run(end, is_tag);
            if !(self.before == Some('\u{1F3F4}') && is_flag(self.text.get(at..end).unwrap_or_default())) {
                found.add(Rule::TagCharacters, at..end);
            }
        } else if is_selector(character) {
            let fine = self.is_fine_selector(character);
            let end = self.run(end, is_selector);
            if !fine {
                found.add(Rule::VariationSelectors, at..end);
            }
        }
    }

    fn is_fine_joiner(&mut self, at: usize, character: char) -> bool {
        let (before, next) = (self.before, self.next());
        match character {
            '\u{200D}' if next.is_some_and(is_picture) => {
                before.is_some_and(|before| is_picture(before) || before == '\u{FE0F}')
            }
            '\u{200C}' | '\u{200D}' => before.is_some_and(takes_joiners),
            // The mark of an encoding, as files begin with.
            '\u{FEFF}' => at == 0 && self.kind == Kind::Result,
            _ => false,
        }
    }

    fn is_fine_selector(&mut self, character: char) -> bool {
        let next = self.next();
        let Some(before) = self.before else { return false };
        if next.is_some_and(is_selector) {
            return false;
        }
        match character {
            '\u{FE0E}' | '\u{FE0F}' => {
                is_picture(before)
                    || is_ideograph(before)
                    || (matches!(before, '0'..='9' | '#' | '*') && next == Some('\u{20E3}'))
            }
            '\u{FE00}'..='\u{FE0D}' => {
                is_ideograph(before)
                    || matches!(before, '\u{2190}'..='\u{22FF}' | '\u{1000}'..='\u{109F}' | '\u{FF00}'..='\u{FFEF}')
            }
            '\u{180B}'..='\u{180F}' => matches!(before, '\u{1800}'..='\u{18AF}'),
            _ => is_ideograph(before),
        }
    }
}

/// The tags that make one of the three flags which are made that way.
fn is_flag(tags: &str) -> bool {
    let spelled: Option<String> =
        tags.chars().map(|tag| u32::from(tag).checked_sub(0xE_0000).and_then(char::from_u32)).collect();
    matches!(spelled.as_deref(), Some("gbeng\u{7f}" | "gbsct\u{7f}" | "gbwls\u{7f}"))
}

/// The length of what belongs to an escape character that stands before.
fn sequence(rest: &str, introducer: char) -> usize {
    let (prefix, body) = match (introducer, rest.as_bytes().first()) {
        ('\u{9B}', _) => (0, rest),
        (_, Some(b'[')) => (1, rest.get(1..).unwrap_or_default()),
        (_, Some(first)) if first.is_ascii_graphic() => return 1,
        _ => return 0,
    };
    let parameters = body.bytes().take_while(|b| matches!(b, b' '..=b'?')).count();
    let last = body.as_bytes().get(parameters).is_some_and(|b| matches!(b, b'@'..=b'~'));
    prefix + parameters + usize::from(last)
}
