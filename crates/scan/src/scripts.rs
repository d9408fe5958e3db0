//! Letters that look like Latin ones, and words put together from several scripts.
//!
//! A word in one script is never a finding, whichever script it is; nor is a Latin word beside ideographs or kana.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;

use crate::finding::Found;
use crate::rule::Rule;

/// Rows of look-alikes: the small Latin letter, and what looks like it.
const LOOK_ALIKES: [(char, &str); 26] = [
    ('a', "аАαΑɑᴀӑӓᎪᗅꓮⱥ"),
    ('b', "ВЬьвΒβʙᏴᗷꓐƅɓƀ"),
    ('c', "сСϲϹᴄᏟⅽꓚҫƈȼ¢"),
    ('d', "ԁԀᴅᎠⅾꓒđðɗ"),
    ('e', "еЕёЁεΕҽᴇᎬꓰєЄɛəɇ℮"),
    ('f', "ғҒꜰϝꓝƒ"),
    ('g', "ɡɢԍᏀꓖցǥɠ"),
    ('h', "һҺнНΗʜᎻꓧհħɦ"),
    ('i', "іІїЇιΙɩıɪӀӏꓲɨίΐƖ"),
    ('j', "јЈϳᴊᎫꓙյɉ"),
    ('k', "кКκΚᴋᏦꓗқĸƙ"),
    ('l', "ʟᏞⅼꓡłƚɭŀ"),
    ('m', "мМΜᴍᎷⅿꓟ"),
    ('n', "пПηΝɴոꓠлռɲ"),
    ('o', "оОοΟσօՕᴏᎾꓳøөӧɵᴑ০०໐"),
    ('p', "рРρΡᴘᏢꓑþƿ"),
    ('q', "ԛԚզգɋ"),
    ('r', "гГʀᎡꓣᴦɼɽ"),
    ('s', "ѕЅꜱᏚꓢʂȿ"),
    ('t', "тТτΤᴛᎢꓔŧƭ"),
    ('u', "υսᴜꓴμµʋц"),
    ('v', "ѵѴνᴠᏙⅴꓦ"),
    ('w', "ԝԜωѡᴡᎳꓪաɯшШ"),
    ('x', "хХχΧⅹꓫҳ"),
    ('y', "уУүҮγΥʏᎩꓬўүყɏ"),
    ('z', "ζΖᴢᏃꓜʐƶ"),
];

static BY_LETTER: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    LOOK_ALIKES.iter().flat_map(|(latin, others)| others.chars().map(|other| (other, *latin))).collect()
});

/// The small Latin letter that a letter of another script, or a rare one of the Latin script, looks like.
pub(crate) fn look_alike(character: char) -> Option<char> {
    if character.is_ascii() {
        return None;
    }
    BY_LETTER.get(&character).copied()
}

/// The scripts that are told apart. What is not listed mixes with Latin in honest texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    /// Armenian, Cherokee, Lisu, Coptic, Georgian: with letters like Latin ones, and never beside them.
    Other,
    Fullwidth,
    /// Letters of formulas, in circles, in boxes.
    Styled,
}

fn script(character: char) -> Option<Script> {
    Some(match character {
        'a'..='z' | 'A'..='Z' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => Script::Latin,
        '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
        '\u{400}'..='\u{52F}'
        | '\u{1C80}'..='\u{1C8F}'
        | '\u{2DE0}'..='\u{2DFF}'
        | '\u{A640}'..='\u{A69F}' => Script::Cyrillic,
        '\u{531}'..='\u{588}'
        | '\u{10A0}'..='\u{10FF}'
        | '\u{13A0}'..='\u{13FF}'
        | '\u{2C80}'..='\u{2CFF}'
        | '\u{A4D0}'..='\u{A4FF}' => Script::Other,
        '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => Script::Fullwidth,
        '\u{1D400}'..='\u{1D7CB}'
        | '\u{249C}'..='\u{24E9}'
        | '\u{1F110}'..='\u{1F149}'
        | '\u{1F150}'..='\u{1F169}'
        | '\u{1F170}'..='\u{1F189}' => Script::Styled,
        _ => return None,
    })
}

/// Looks for words of several scripts.
pub(crate) fn look(text: &str, found: &mut Found) {
    let mut word = Word::default();
    for (at, character) in text.char_indices() {
        let styled = script(character);
        if styled.is_some() || character.is_alphanumeric() || is_combining_mark(character) {
            word.take(at, character, styled);
        } else if !word.end(found) {
            return;
        }
    }
    word.end(found);
}

/// A word as it is read.
#[derive(Debug, Default)]
struct Word {
    range: Range<usize>,
    letters: usize,
    scripts: Vec<Script>,
    /// The scripts of the last two letters, newest first.
    last: [Option<Script>; 2],
    /// A Greek letter stood between two Latin ones.
    enclosed: bool,
    /// A letter that nobody tells from a Latin one.
    twin: bool,
}

impl Word {
    fn take(&mut self, at: usize, character: char, script: Option<Script>) {
        if self.range.is_empty() {
            self.range = at..at;
        }
        self.range.end = at + character.len_utf8();
        if is_combining_mark(character) {
            return;
        }
        self.letters += 1;
        if let Some(script) = script
            && !self.scripts.contains(&script)
        {
            self.scripts.push(script);
        }
        let [before, two_before] = self.last;
        self.enclosed |= script == Some(Script::Latin)
            && before == Some(Script::Greek)
            && two_before == Some(Script::Latin);
        // Capitals and the small omicron; other Greek letters stand in formulas and units.
        self.twin |= matches!(
            character,
            'Α' | 'Β' | 'Ε' | 'Ζ' | 'Η' | 'Ι' | 'Κ' | 'Μ' | 'Ν' | 'Ο' | 'Ρ' | 'Τ' | 'Υ' | 'Χ' | 'ο'
        );
        self.last = [script, before];
    }

    /// Ends the word; `false` when there is room for no more findings.
    fn end(&mut self, found: &mut Found) -> bool {
        let word = std::mem::take(self);
        !word.mixed() || found.add(Rule::MixedScript, word.range)
    }

    fn mixed(&self) -> bool {
        let has = |script| self.scripts.contains(&script);
        if self.scripts.len() < 2 {
            return false;
        }
        if has(Script::Cyrillic) || has(Script::Other) || has(Script::Fullwidth) {
            return true;
        }
        (has(Script::Greek) && (self.enclosed || self.twin)) || (has(Script::Styled) && self.letters > 2)
    }
}
