//! What is searched for: each secret value, its lines, and the spellings that usual encoders give them.
//!
//! It must never emit a pattern shorter than [`EXACT_FROM`] characters, which would mask ordinary text.
//! Start at [`patterns`]; each encoding is one function below it. All patterns are valid UTF-8, which is
//! what makes matches in UTF-8 text start and end on character boundaries.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::Secret;

/// From how many characters on a value is masked where it stands as it is.
pub(crate) const EXACT_FROM: usize = 4;
/// From how many characters on a value is masked in its disguises too.
pub(crate) const DISGUISED_FROM: usize = 8;

/// A text to search for; as secret as the value it came from, so wiped when dropped.
pub(crate) type Pattern = Zeroizing<String>;

/// The patterns of a set of secrets.
pub(crate) struct Patterns {
    /// Sorted and without duplicates.
    pub(crate) texts: Vec<Pattern>,
    /// How many values had fewer than [`EXACT_FROM`] characters.
    pub(crate) too_short: usize,
}

/// All patterns of all secrets.
pub(crate) fn patterns<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Patterns {
    let mut texts = Vec::new();
    let mut too_short = 0;
    for secret in secrets {
        let value = secret.expose_secret();
        if shorter_than(value, EXACT_FROM) {
            too_short += 1;
        }
        spell(value, &mut texts);
        if value.contains('\n') {
            for line in value.split('\n') {
                spell(line.strip_suffix('\r').unwrap_or(line), &mut texts);
            }
        }
    }
    texts.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
    texts.dedup_by(|a, b| a.as_str() == b.as_str());
    Patterns { texts, too_short }
}

/// One value, or one line of one, in every spelling that its length allows.
fn spell(value: &str, texts: &mut Vec<Pattern>) {
    if shorter_than(value, EXACT_FROM) {
        return;
    }
    texts.push(Zeroizing::new(value.to_owned()));
    texts.extend(cut_short(value));
    if shorter_than(value, DISGUISED_FROM) {
        return;
    }
    for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        for foreign in 0..3 {
            base64(value, alphabet, foreign, texts);
        }
    }
    for case in [HexCase::Lower, HexCase::Upper] {
        texts.push(hex(value, case));
        texts.extend(PERCENT_STYLES.iter().map(|style| percent(value, style, case)));
        if let Some((path, query)) = value.split_once('?') {
            // Pasted into a URL's path, its first question mark ends the path.
            let [path, query] =
                [(path, &IN_A_PATH), (query, &IN_A_QUERY)].map(|(part, style)| percent(part, style, case));
            texts.push(Zeroizing::new(format!("{}?{}", *path, *query)));
        }
    }
    texts.extend(JSON_STYLES.iter().map(|style| json(value, style)));
    texts.extend(["'", ""].map(|escaped| shown_in_console(value, escaped)));
}

/// How much of a name the engine's messages show at least: `cannot read property '…' of null`.
const SHOWN_OF_A_NAME: usize = 60;

/// The beginning of a value that is longer than what such a message shows of a name, since its end would be missing.
fn cut_short(value: &str) -> Option<Pattern> {
    let (last, _) = value.char_indices().take_while(|(at, _)| *at <= SHOWN_OF_A_NAME).last()?;
    let beginning = value.get(..last).filter(|_| value.len() > SHOWN_OF_A_NAME)?;
    (!shorter_than(beginning, DISGUISED_FROM)).then(|| Zeroizing::new(beginning.to_owned()))
}

fn shorter_than(value: &str, chars: usize) -> bool {
    value.chars().take(chars).count() < chars
}

/// How much of a value's base64 has to stand beside a character at a seam for that to be masked: 16 bytes are no
/// accident, and a long value need not be spelt once more for each form that the character can take.
const BESIDE_A_SEAM: usize = 22;

/// The value in base64 when `foreign` bytes precede it in their group of three.
fn base64(value: &str, alphabet: &impl Engine, foreign: usize, texts: &mut Vec<Pattern>) {
    let core = base64_core(value, alphabet, foreign);
    let [Some(first), Some(last)] = [value.bytes().next(), value.bytes().next_back()] else { return };
    // A character at a seam holds `own` bits of the value; the others are a neighbour's, and may be any.
    let own = match foreign {
        0 => 0,
        1 => 4,
        _ => 2,
    };
    if own > 0 {
        let beside = core.get(..BESIDE_A_SEAM).unwrap_or(&core);
        for others in 0..1 << (6 - own) {
            let seam = base64_character((others << own) | (first >> (8 - own)), alphabet);
            texts.push(Zeroizing::new(format!("{seam}{beside}")));
        }
    }
    let own = (foreign + value.len()) * 8 % 6;
    if own > 0 {
        let beside = core.get(core.len().saturating_sub(BESIDE_A_SEAM)..).unwrap_or(&core);
        let bits = (last << (8 - own)) >> 2;
        for others in 0..1 << (6 - own) {
            let seam = base64_character(bits | others, alphabet);
            texts.push(Zeroizing::new(format!("{beside}{seam}")));
        }
        // Where the text ends with the value.
        let (seam, padding) = (base64_character(bits, alphabet), if own == 2 { "==" } else { "=" });
        texts.push(Zeroizing::new(format!("{beside}{seam}{padding}")));
    }
    texts.push(core);
}

/// The character that stands for six bits.
fn base64_character(bits: u8, alphabet: &impl Engine) -> char {
    let encoded = Zeroizing::new(alphabet.encode([bits << 2]));
    encoded.chars().next().unwrap_or_default()
}

/// The base64 characters that the value alone determines when `foreign` bytes precede it in their
/// group of three. The characters at the seams also depend on the neighbours and are left out, so that
/// the pattern is found whatever the neighbours are.
fn base64_core(value: &str, alphabet: &impl Engine, foreign: usize) -> Pattern {
    let mut bytes = Zeroizing::new(Vec::with_capacity(foreign + value.len()));
    bytes.resize(foreign, 0);
    bytes.extend_from_slice(value.as_bytes());
    let encoded = Zeroizing::new(alphabet.encode(bytes.as_slice()));
    let first = (foreign * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    Zeroizing::new(encoded.get(first..end).unwrap_or_default().to_owned())
}

#[derive(Clone, Copy)]
enum HexCase {
    Lower,
    Upper,
}

impl HexCase {
    /// The lowest four bits of `nibble` as a digit.
    fn digit(self, nibble: u32) -> char {
        let digit = char::from_digit(nibble & 0xf, 16).unwrap_or_default();
        match self {
            Self::Lower => digit,
            Self::Upper => digit.to_ascii_uppercase(),
        }
    }

    fn push_byte(self, byte: u8, text: &mut String) {
        text.push(self.digit(u32::from(byte >> 4)));
        text.push(self.digit(u32::from(byte)));
    }
}

fn hex(value: &str, case: HexCase) -> Pattern {
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 2));
    for byte in value.bytes() {
        case.push_byte(byte, &mut text);
    }
    text
}

/// Which bytes a percent-encoder leaves alone, and how it writes a space.
enum PercentStyle {
    /// Encodes every byte.
    Everything,
    /// Keeps ASCII letters, digits and these.
    Keeping(&'static str),
    /// The same, and a space becomes `+`.
    FormKeeping(&'static str),
}

const PERCENT_STYLES: [PercentStyle; 8] = [
    PercentStyle::Everything,
    // RFC 3986 unreserved: Python's `quote(safe='')`, Rust's and Go's path encoders.
    PercentStyle::Keeping("-._~"),
    // `encodeURIComponent`.
    PercentStyle::Keeping("-_.!~*'()"),
    // `encodeURI`.
    PercentStyle::Keeping("-_.!~*'();/?:@&=+$,#"),
    // The path and the query of a URL as the URL standard's parser rewrites them: a value pasted into a
    // URL comes back like this in every error message that names the URL.
    IN_A_PATH,
    IN_A_QUERY,
    // `URLSearchParams` and HTML forms.
    PercentStyle::FormKeeping("*-._"),
    // Python's `urlencode`, Go's `QueryEscape`.
    PercentStyle::FormKeeping("-._~"),
];

const IN_A_PATH: PercentStyle = PercentStyle::Keeping(r"!$%&'()*+,-./:;=@[\]^_|~");
const IN_A_QUERY: PercentStyle = PercentStyle::Keeping(r"!$%&()*+,-./:;=?@[\]^_`{|}~");

fn percent(value: &str, style: &PercentStyle, case: HexCase) -> Pattern {
    let keeps = |byte: u8, extra: &str| byte.is_ascii_alphanumeric() || extra.as_bytes().contains(&byte);
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 3));
    for byte in value.bytes() {
        match style {
            PercentStyle::FormKeeping(_) if byte == b' ' => text.push('+'),
            PercentStyle::Keeping(extra) | PercentStyle::FormKeeping(extra) if keeps(byte, extra) => {
                text.push(char::from(byte));
            }
            _ => {
                text.push('%');
                case.push_byte(byte, &mut text);
            }
        }
    }
    text
}

/// What a JSON writer escapes beyond what the standard asks for.
struct JsonStyle {
    slash: Slash,
    beyond: Beyond,
    case: HexCase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Plain,
    Escaped,
}

/// Which characters become `\uXXXX` although they need not.
#[derive(Clone, Copy)]
enum Beyond {
    /// None: `serde_json`, `JSON.stringify`.
    Nothing,
    /// `<`, `>`, `&` and the two line separators of Unicode: Go, and others that expect to land in HTML.
    Html,
    /// All but printable ASCII: Python, PHP.
    NonAscii,
}

#[rustfmt::skip]
const JSON_STYLES: [JsonStyle; 10] = [
    JsonStyle { slash: Slash::Plain,   beyond: Beyond::Nothing,  case: HexCase::Lower },
    JsonStyle { slash: Slash::Plain,   beyond: Beyond::Nothing,  case: HexCase::Upper },
    JsonStyle { slash: Slash::Plain,   beyond: Beyond::Html,     case: HexCase::Lower },
    JsonStyle { slash: Slash::Plain,   beyond: Beyond::Html,     case: HexCase::Upper },
    JsonStyle { slash: Slash::Plain,   beyond: Beyond::NonAscii, case: HexCase::Lower },
    JsonStyle { slash: Slash::Plain,   beyond: Beyond::NonAscii, case: HexCase::Upper },
    JsonStyle { slash: Slash::Escaped, beyond: Beyond::Nothing,  case: HexCase::Lower },
    JsonStyle { slash: Slash::Escaped, beyond: Beyond::Nothing,  case: HexCase::Upper },
    JsonStyle { slash: Slash::Escaped, beyond: Beyond::NonAscii, case: HexCase::Lower },
    JsonStyle { slash: Slash::Escaped, beyond: Beyond::NonAscii, case: HexCase::Upper },
];

fn json(value: &str, style: &JsonStyle) -> Pattern {
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 6));
    for char in value.chars() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '/' if style.slash == Slash::Escaped => text.push_str("\\/"),
            _ if needs_unicode_escape(char, style.beyond) => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    text.push_str("\\u");
                    for shift in [12, 8, 4, 0] {
                        text.push(style.case.digit(u32::from(*unit >> shift)));
                    }
                }
            }
            _ => text.push(char),
        }
    }
    text
}

fn needs_unicode_escape(char: char, beyond: Beyond) -> bool {
    match beyond {
        _ if char < ' ' => true,
        Beyond::Nothing => false,
        Beyond::Html => matches!(char, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
        Beyond::NonAscii => char > '~',
    }
}

/// A text within an object as consoles of JavaScript show it: as in the source, but for the quotes that need no
/// backslash in this place.
fn shown_in_console(value: &str, escaped_quote: &str) -> Pattern {
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 4));
    for char in value.chars() {
        match char {
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                text.push_str("\\x");
                HexCase::Upper.push_byte(u8::try_from(u32::from(char)).unwrap_or_default(), &mut text);
            }
            _ if escaped_quote.contains(char) => text.extend(['\\', char]),
            _ => text.push(char),
        }
    }
    text
}
