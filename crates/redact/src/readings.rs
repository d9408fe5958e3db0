//! Every way to read a text at one position: as the byte that stands there, or as what an escape that begins there
//! decodes to.
//!
//! It must never guess which of them a reader will take: `=41` is three characters in a query and an `A` in
//! quoted-printable, so both are given. Start at [`Memo::read`].
//!
//! An escape may itself be written in escapes (`%5Cu003d`, `&amp;#61;`, `\\u003d`). A reading of level 1 is an escape
//! of plain characters, one of level 2 an escape whose characters are readings of level 1, and so on to [`LEVELS`].

use crate::entities::{self, LONGEST_NAME};
use crate::windows::Windows;

/// How deep escapes are undone: an encoding within an encoding within an encoding.
pub(crate) const LEVELS: usize = 3;
/// The most bytes of text that one character may be spelled with; a longer spelling is not undone.
pub(crate) const LONGEST_SPELLING: usize = 512;

/// The most readings of one position. The longest list that is known, a run of backslashes, has eight.
const MOST_READINGS: usize = 15;
/// The most ways to read on within one escape.
const MOST_WAYS: usize = 8;
/// The most digits of a numeric character reference, and of `\u{…}`.
const MOST_DIGITS: usize = 8;
/// The most line breaks without meaning between two characters of an escape.
const MOST_SOFT_BREAKS: usize = 2;

/// Whether an escape can begin with this byte.
pub(crate) const fn is_introducer(byte: u8) -> bool {
    matches!(byte, b'\\' | b'&' | b'%' | b'=' | b'+')
}

/// One way to read a position: what is read, and how many bytes of the text that takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    bytes: [u8; 4],
    count: u8,
    length: u16,
}

impl Reading {
    /// The byte as it stands there.
    pub(crate) const fn literal(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], count: 1, length: 1 }
    }

    /// What is read: a character or a byte; nothing for a line break without meaning.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// How many bytes of the text are read.
    pub(crate) fn length(self) -> usize {
        usize::from(self.length)
    }

    fn single(self) -> Option<u8> {
        self.bytes.first().copied().filter(|_| self.count == 1)
    }
}

/// The readings of one position, without duplicates.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Readings {
    list: [Reading; MOST_READINGS],
    count: usize,
}

impl Readings {
    pub(crate) fn literal(byte: u8) -> Self {
        let mut readings = Self::default();
        readings.add(Reading::literal(byte));
        readings
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Reading> {
        self.list.iter().take(self.count)
    }

    fn add(&mut self, reading: Reading) {
        if !self.iter().any(|other| *other == reading)
            && let Some(free) = self.list.get_mut(self.count)
        {
            *free = reading;
            self.count += 1;
        }
    }

    fn add_bytes(&mut self, read: &[u8], length: usize) {
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(read) {
            *to = *from;
        }
        if let (Ok(count), Ok(length)) = (u8::try_from(read.len()), u16::try_from(length)) {
            self.add(Reading { bytes, count, length });
        }
    }

    /// A character by its number. Up to 255 it may mean a byte as well as a character.
    fn add_code(&mut self, code: u32, length: usize) {
        if let Ok(byte) = u8::try_from(code) {
            self.add_bytes(&[byte], length);
        }
        if code > 0x7f
            && let Some(char) = char::from_u32(code)
        {
            self.add_bytes(char.encode_utf8(&mut [0; 4]).as_bytes(), length);
        }
    }
}

impl Readings {
    fn add_codes(&mut self, codes: &Few<u32>, begun: Begun) {
        for (code, end) in codes.iter() {
            self.add_code(code, begun.length(end));
        }
    }
}

/// What was computed before, so that text made of escapes is not read over and over.
#[derive(Default)]
pub(crate) struct Memo {
    /// The readings of a level.
    readings: Windows<Readings>,
    /// Which escapes matter; `sieve` fills it.
    pub(crate) verdicts: Windows<bool>,
    /// How often something was computed, tried or followed.
    #[cfg(test)]
    pub(crate) work: usize,
}

impl Memo {
    /// Counts a unit of work, for tests that bound it.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests count"))]
    pub(crate) fn count(&mut self) {
        #[cfg(test)]
        {
            self.work += 1;
        }
    }

    /// All readings at `at`, and the position behind all bytes that they depend on ([`usize::MAX`] if the end of the text is
    /// one of them). `None` if they depend on text behind the end, which there is none of if it `is_whole`.
    pub(crate) fn read(&mut self, text: &[u8], at: usize, is_whole: bool) -> Option<(Readings, usize)> {
        let text = text.get(at..).unwrap_or_default();
        let mut reader = Reader { text, ran_out: false, met_introducer: false, reach: 0, memo: self };
        let found = reader.at(0, LEVELS);
        (is_whole || !reader.ran_out).then_some((found, reader.reach.saturating_add(at)))
    }
}

/// Positions count from where the reading begins.
struct Reader<'a> {
    text: &'a [u8],
    /// Whether the text ended where another byte could have gone on with an escape.
    ran_out: bool,
    /// Whether a character of an escape could be an escape itself.
    met_introducer: bool,
    /// The position behind all bytes that were looked at; the largest there is if the end of the text or [`LONGEST_SPELLING`] was
    /// met.
    reach: usize,
    memo: &'a mut Memo,
}

impl Reader<'_> {
    fn byte(&mut self, at: usize) -> Option<u8> {
        let byte = self.text.get(at).copied().filter(|_| at < LONGEST_SPELLING);
        self.reach = self.reach.max(if byte.is_some() { at + 1 } else { usize::MAX });
        self.ran_out |= at < LONGEST_SPELLING && byte.is_none();
        byte
    }

    /// The readings at a position up to a level.
    fn at(&mut self, at: usize, level: usize) -> Readings {
        let Some(first) = self.byte(at) else { return Readings::default() };
        if !is_introducer(first) {
            return Readings::literal(first);
        }
        if level == 1 {
            return self.compute(first, at, level);
        }
        if let Some((found, length)) = self.memo.readings.get(level, self.text, at)
            && at + length <= LONGEST_SPELLING
        {
            self.reach = self.reach.max(at + length);
            return found;
        }
        let reach_before = std::mem::replace(&mut self.reach, at + 1);
        let found = self.compute(first, at, level);
        if self.reach < usize::MAX {
            self.memo.readings.put(level, self.text, at, self.reach - at, found);
        }
        self.reach = self.reach.max(reach_before);
        found
    }

    fn compute(&mut self, first: u8, at: usize, level: usize) -> Readings {
        let mut found = Readings::literal(first);
        // Whether a higher level can read an escape differently: not if all of its characters are plain.
        let mut is_open = [true; MOST_READINGS];
        for inner in 0..level {
            let of_this_level = found.count;
            for (index, is_open) in is_open.iter_mut().enumerate().take(of_this_level) {
                let reading = found.list.get(index).copied().unwrap_or_default();
                if let Some(introducer) = reading.single().filter(|byte| *is_open && is_introducer(*byte)) {
                    let begun = Begun { start: at, next: at + reading.length(), inner };
                    let met_before = std::mem::take(&mut self.met_introducer);
                    self.memo.count();
                    self.escape(introducer, begun, &mut found);
                    *is_open = self.met_introducer;
                    self.met_introducer |= met_before;
                }
            }
        }
        found
    }

    /// The ways to read the next character of an escape as one that is `wanted`, each with the position behind it.
    fn one(&mut self, at: usize, inner: usize, wanted: impl Fn(u8) -> bool) -> Few<u8> {
        let mut found = Few::default();
        self.one_behind(at, inner, MOST_SOFT_BREAKS, &wanted, &mut found);
        found
    }

    fn one_behind(
        &mut self,
        at: usize,
        inner: usize,
        breaks: usize,
        wanted: &impl Fn(u8) -> bool,
        found: &mut Few<u8>,
    ) {
        let Some(first) = self.byte(at) else { return };
        self.met_introducer |= is_introducer(first);
        if inner == 0 || !is_introducer(first) {
            if wanted(first) {
                found.add(first, at + 1);
            }
            return;
        }
        for reading in self.at(at, inner).iter() {
            match reading.bytes() {
                [byte] if wanted(*byte) => found.add(*byte, at + reading.length()),
                [] if breaks > 0 => self.one_behind(at + reading.length(), inner, breaks - 1, wanted, found),
                _ => {}
            }
        }
    }

    /// The ways to read this many digits, or all that there are up to that, as a number.
    fn digits(&mut self, at: usize, inner: usize, radix: u32, count: Count) -> Few<u32> {
        let (mut found, mut open) = (Few::default(), Few::default());
        open.add(0_u32, at);
        let most = match count {
            Count::Exactly(most) | Count::UpTo(most) => most,
        };
        for read in 0..=most {
            let mut next = Few::default();
            for (number, at) in open.iter() {
                let is_enough = read == most || (matches!(count, Count::UpTo(_)) && read > 0);
                let digits = if read < most {
                    self.one(at, inner, |byte| char::from(byte).is_digit(radix))
                } else {
                    Few::default()
                };
                // A digit that stands there is never left over; one that an escape may stand for can be.
                let is_left_over =
                    self.text.get(at).is_some_and(|byte| !is_introducer(*byte)) && digits.count > 0;
                if is_enough && !is_left_over {
                    found.add(number, at);
                }
                for (digit, behind) in digits.iter() {
                    let digit = char::from(digit).to_digit(radix).unwrap_or_default();
                    if let Some(number) =
                        number.checked_mul(radix).and_then(|number| number.checked_add(digit))
                    {
                        next.add(number, behind);
                    }
                }
            }
            open = next;
        }
        found
    }

    fn hex(&mut self, at: usize, inner: usize, count: usize) -> Few<u32> {
        self.digits(at, inner, 16, Count::Exactly(count))
    }

    /// Adds what the escape that begins with this introducer can be.
    fn escape(&mut self, introducer: u8, begun: Begun, found: &mut Readings) {
        // Most introducers begin nothing; the character behind them tells.
        let wanted = |byte: u8| match introducer {
            b'%' => byte.is_ascii_hexdigit() || byte == b'u',
            b'=' => byte.is_ascii_hexdigit() || matches!(byte, b'\r' | b'\n'),
            b'&' => byte.is_ascii_alphanumeric() || byte == b'#',
            _ => true,
        };
        if matches!(introducer, b'%' | b'=' | b'&') && self.one(begun.next, begun.inner, wanted).count == 0 {
            return;
        }
        match introducer {
            b'+' => found.add_bytes(b" ", begun.length(begun.next)),
            b'%' => self.percent(begun, found),
            b'=' => self.quoted_printable(begun, found),
            b'&' => self.entity(begun, found),
            _ => self.backslash(begun, found),
        }
    }

    /// `%3D`, and `%u003D` as JavaScript's `escape` writes it.
    fn percent(&mut self, begun: Begun, found: &mut Readings) {
        let Begun { next, inner, .. } = begun;
        found.add_codes(&self.hex(next, inner, 2), begun);
        for (_, behind) in self.one(next, inner, |byte| byte == b'u').iter() {
            found.add_codes(&self.hex(behind, inner, 4), begun);
        }
    }

    /// `=3D`, or a line break that only keeps lines short.
    fn quoted_printable(&mut self, begun: Begun, found: &mut Readings) {
        found.add_codes(&self.hex(begun.next, begun.inner, 2), begun);
        for (first, behind) in self.one(begun.next, begun.inner, |byte| matches!(byte, b'\r' | b'\n')).iter()
        {
            self.soft_break(first, behind, begun, found);
        }
    }

    fn soft_break(&mut self, first: u8, behind: usize, begun: Begun, found: &mut Readings) {
        let feeds =
            if first == b'\r' { self.one(behind, begun.inner, |byte| byte == b'\n') } else { Few::default() };
        found.add_bytes(&[], begun.length(behind));
        for (_, end) in feeds.iter() {
            found.add_bytes(&[], begun.length(end));
        }
    }

    /// `&#61;`, `&#x3d;`, `&equals;`, the semicolon missing where browsers do not need it.
    fn entity(&mut self, begun: Begun, found: &mut Readings) {
        let Begun { next, inner, .. } = begun;
        self.named_entity(&mut Name::default(), next, begun, found);
        for (_, behind) in self.one(next, inner, |byte| byte == b'#').iter() {
            let decimal = self.digits(behind, inner, 10, Count::UpTo(MOST_DIGITS));
            self.numbered_entity(&decimal, begun, found);
            for (_, behind) in self.one(behind, inner, |byte| matches!(byte, b'x' | b'X')).iter() {
                let hex = self.digits(behind, inner, 16, Count::UpTo(MOST_DIGITS));
                self.numbered_entity(&hex, begun, found);
            }
        }
    }

    fn numbered_entity(&mut self, codes: &Few<u32>, begun: Begun, found: &mut Readings) {
        for (code, end) in codes.iter() {
            let semicolons = self.one(end, begun.inner, |byte| byte == b';');
            if semicolons.count == 0 {
                found.add_code(code, begun.length(end));
            }
            for (_, end) in semicolons.iter() {
                found.add_code(code, begun.length(end));
            }
        }
    }

    fn named_entity(&mut self, name: &mut Name, at: usize, begun: Begun, found: &mut Readings) {
        for (byte, behind) in self.one(at, begun.inner, |byte| byte.is_ascii_alphanumeric()).iter() {
            let Some(place) = name.letters.get_mut(name.length) else { return };
            *place = byte;
            name.length += 1;
            let so_far = name.letters.get(..name.length).unwrap_or_default();
            if entities::begins_a_name(so_far) {
                let (named, short) = (entities::named(so_far), entities::named_without_semicolon(so_far));
                self.named_entity(name, behind, begun, found);
                if let Some(char) = named {
                    for (_, end) in self.one(behind, begun.inner, |byte| byte == b';').iter() {
                        found.add_code(u32::from(char), begun.length(end));
                    }
                }
                if let Some(char) = short {
                    found.add_code(u32::from(char), begun.length(behind));
                }
            }
            name.length -= 1;
        }
    }

    /// `\u003d`, `\u{3d}`, `\U0000003d`, `\x3d`, `\75`, `\n`, and any other character with a backslash before it.
    fn backslash(&mut self, begun: Begun, found: &mut Readings) {
        let Begun { start, next, inner } = begun;
        // Of two backslashes the first does not begin an escape while the second begins another: who undoes the second has
        // undone the first with it.
        let is_first_of_two = next == start + 1 && self.byte(next) == Some(b'\\');
        let inner = if is_first_of_two { 0 } else { inner };
        for (byte, behind) in self.one(next, inner, |_| true).iter() {
            self.backslash_before(byte, behind, begun, found);
        }
    }

    fn backslash_before(&mut self, byte: u8, behind: usize, begun: Begun, found: &mut Readings) {
        let inner = begun.inner;
        let codes = match byte {
            b'u' => self.unicode(behind, inner),
            b'U' => self.hex(behind, inner, 8),
            b'x' => self.hex(behind, inner, 2),
            b'0'..=b'7' => self.octal(byte, behind, inner),
            _ => Few::default(),
        };
        found.add_codes(&codes, begun);
        match byte {
            _ if codes.count > 0 => {}
            b'\r' | b'\n' => self.soft_break(byte, behind, begun, found),
            b' '..=b'~' => {
                found.add_bytes(&[named_control(byte).unwrap_or(byte)], begun.length(behind));
            }
            _ => {}
        }
    }

    /// Behind the first digit of an octal escape: as many digits as a byte has.
    fn octal(&mut self, first: u8, behind: usize, inner: usize) -> Few<u32> {
        let (mut codes, first_code) = (Few::default(), u32::from(first - b'0'));
        let more = if first <= b'3' { 2 } else { 1 };
        for count in 0..=more {
            // Fewer digits are all that there are, or not all: both may be meant where digits are escapes themselves.
            let rest = if count == 0 {
                Few::of(0, behind)
            } else {
                self.digits(behind, inner, 8, Count::Exactly(count))
            };
            for (code, end) in rest.iter() {
                let is_left_over =
                    count < more && self.text.get(end).is_some_and(|byte| matches!(byte, b'0'..=b'7'));
                if !is_left_over {
                    codes.add(first_code * 8_u32.pow(u32::try_from(count).unwrap_or_default()) + code, end);
                }
            }
        }
        // Whether a digit follows is known only where something does.
        self.ran_out |= behind >= self.text.len();
        codes
    }

    /// Behind `\u`: four digits, two such in a row for a character beyond the first 65 536, or digits in braces.
    fn unicode(&mut self, at: usize, inner: usize) -> Few<u32> {
        let mut codes = Few::default();
        for (_, behind) in self.one(at, inner, |byte| byte == b'{').iter() {
            for (code, end) in self.digits(behind, inner, 16, Count::UpTo(MOST_DIGITS)).iter() {
                for (_, end) in self.one(end, inner, |byte| byte == b'}').iter() {
                    codes.add(code, end);
                }
            }
        }
        for (high, end) in self.hex(at, inner, 4).iter() {
            if !(0xd800..0xdc00).contains(&high) {
                codes.add(high, end);
                continue;
            }
            for (_, behind) in self.one(end, inner, |byte| byte == b'\\').iter() {
                for (_, behind) in self.one(behind, inner, |byte| byte == b'u').iter() {
                    for (low, end) in self.hex(behind, inner, 4).iter() {
                        if (0xdc00..0xe000).contains(&low) {
                            codes.add(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00), end);
                        }
                    }
                }
            }
        }
        codes
    }
}

/// How many digits a number has.
#[derive(Clone, Copy)]
enum Count {
    Exactly(usize),
    UpTo(usize),
}

/// The letters of a name so far.
#[derive(Default)]
struct Name {
    letters: [u8; LONGEST_NAME],
    length: usize,
}

/// A few ways to read on, each with the position behind it; what there is no room for is left out.
#[derive(Clone, Copy, Default)]
struct Few<T> {
    list: [(T, u16); MOST_WAYS],
    count: usize,
}

impl<T: Copy + Default + PartialEq> Few<T> {
    fn of(read: T, end: usize) -> Self {
        let mut few = Self::default();
        few.add(read, end);
        few
    }

    fn add(&mut self, read: T, end: usize) {
        if !self.iter().any(|other| other == (read, end))
            && let Some(free) = self.list.get_mut(self.count)
            && let Ok(end) = u16::try_from(end)
        {
            *free = (read, end);
            self.count += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = (T, usize)> + use<T> {
        self.list.into_iter().take(self.count).map(|(read, end)| (read, usize::from(end)))
    }
}

/// An escape whose introducer was read.
#[derive(Clone, Copy)]
struct Begun {
    start: usize,
    /// The position behind the introducer.
    next: usize,
    /// The level of the readings that its other characters may be.
    inner: usize,
}

impl Begun {
    fn length(self, end: usize) -> usize {
        end - self.start
    }
}

/// The control character that a letter behind a backslash stands for.
fn named_control(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0xb,
        b'f' => 0xc,
        b'r' => b'\r',
        b'e' => 0x1b,
        _ => return None,
    })
}
