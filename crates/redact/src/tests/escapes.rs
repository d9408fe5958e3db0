//! Values that stand in a text behind escapes: found in the decoded view, masked where they stand.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{check, check_disguise, check_unchanged, redactor, secrets, streamed};
use crate::Redactor;
use crate::decoded::MOST_EMPTY;
use crate::readings::Memo;

const VALUE: &str = "s3cr3t-VALUE/of+the=owner&co";

#[test]
fn one_escaped_character_does_not_hide_a_value() {
    for escaped in [
        r"s3cr3t-VALUE/of+the\u003downer&co",
        r"s3cr3t-VALUE/of\u002Bthe=owner&co",
        r"s3cr3t-VALUE\/of+the=owner\u0026co",
        r"s3cr3t-VALUE/of+the\u{3d}owner&co",
        r"s3cr3t-VALUE/of+the\U0000003downer&co",
        r"s3cr3t-VALUE/of+the\x3downer&co",
        r"s3cr3t-VALUE/of\x2Bthe=owner&co",
        r"s3cr3t-VALUE/of+the\75owner&co",
        r"s3cr3t-VALUE/of+the\075owner\46co",
        r"s3cr3t\-VALUE\/of\+the\=owner\&co",
        "s3cr3t-VALUE/of+the&#x3D;owner&amp;co",
        "s3cr3t-VALUE/of+the&#61;owner&#38;co",
        "s3cr3t-VALUE/of+the&#0061owner&ampco",
        "s3cr3t-VALUE&sol;of&plus;the&equals;owner&AMP;co",
        "s3cr3t-VALUE/of%2bthe%3downer%26co",
        "s3cr3t-VALUE/of+the%u003downer&co",
        "s3cr3t-VALUE/of+the=3Downer&co",
        "s3cr3t-VALUE/of+=\r\nthe=3Downer=\n&co",
        "s3cr3t-VALUE/of+the=owner\\\n&co",
        "%733cr3t-VALUE/of+the=owner&co",
        "s3cr3t-VALUE/of+the=owner&c%6F",
    ] {
        check_disguise(VALUE, escaped);
    }
}

#[test]
fn encodings_may_be_mixed_and_nested() {
    for escaped in [
        r"s3cr3t-VALUE\/of%2Bthe&#61;owner\x26co",
        // JSON in JSON, and in JSON again.
        r"s3cr3t-VALUE/of\\u002bthe\\u003downer&co",
        r"s3cr3t-VALUE/of\\\\u002bthe\\\\u003downer&co",
        // JSON, percent-encoded; percent-encoding in JSON; each in an entity.
        "s3cr3t-VALUE/of%5Cu002bthe%5C%75003downer&co",
        r"s3cr3t-VALUE/of\u00252Bthe\u00253Downer&co",
        "s3cr3t-VALUE/of&#37;2Bthe&amp;#61;owner&amp;amp;co",
        // Three times percent-encoded, in quoted-printable twice.
        "s3cr3t-VALUE/of%25252Bthe%25253Downer&co",
        "s3cr3t-VALUE/of+the=3D3Downer&co",
        // JSON in an HTML attribute in quoted-printable.
        "s3cr3t-VALUE/of&#92;u002bthe=26#92;u003downer&co",
        "s3cr3t-VALUE/of%5C=\r\nu00=\r\n2bthe=owner&co",
    ] {
        check_disguise(VALUE, escaped);
    }
}

#[test]
fn what_stands_before_a_value_does_not_hide_it() {
    // Each beginning could take the first characters of the value for its own.
    let value = "41BC0061;60/of+the=owner";
    let escaped = r"41BC0061;60/of\u002bthe=owner";
    for before in
        ["%", "=", r"\", r"\x", r"\u", r"\u00", "&#", "&#x", "&", "%4", "%%", "=3D", r"\\", "%25", "&amp;#"]
    {
        let redactor = redactor(&[value]);
        let output = redactor.redact(&format!("<{before}{escaped}>")).into_owned();
        assert!(output.ends_with("***>") && !output.contains("of"), "{before}: {output}");
    }
}

#[test]
fn a_space_may_be_written_as_a_plus() {
    check_disguise("correct horse battery", "correct+horse+battery");
    check_disguise("correct horse battery", "correct%2Bhorse\\u0020battery");
    check_unchanged(&["correct+horse+battery"], "correct horse battery");
}

#[test]
fn characters_beyond_ascii_are_found_as_characters_and_as_bytes() {
    for escaped in [
        r"p\u00e4ssw\u00f6rd-\ud83d\ude00",
        r"p\xe4ssw\xf6rd-\u{1f600}",
        r"p\xc3\xa4ssw\303\266rd-😀",
        "p&auml;ssw&#246;rd-&#128512;",
        "p=C3=A4ssw=C3=B6rd-=F0=9F=98=80",
        "p%E4ssw%C3%B6rd-%F0%9F%98%80",
    ] {
        check_disguise("pässwörd-😀", escaped);
    }
}

#[test]
fn base64_of_a_value_is_found_behind_escapes() {
    // `PDw/Pz4+PHNlY3JldD4+Pz88PA==` is the base64 of it.
    let value = "<<??>><secret>>??<<";
    check_disguise(value, r"PDw\/Pz4\u002bPHNlY3JldD4+Pz88PA\u003d\u003d");
    check_disguise(value, "PDw%2FPz4%2BPHNlY3JldD4%2BPz88PA%3D%3D");
    check_disguise(value, "PDw/Pz4=2BPHNlY3Jl=\r\ndD4+Pz88PA=3D=3D");
}

#[test]
fn short_values_are_found_behind_escapes_too() {
    check(&["a=bc"], r"<a\u003dbc> <a&#61;bc> <a=bd>", "<***> <***> <a=bd>");
}

#[test]
fn escapes_without_a_value_are_left_alone() {
    for text in [
        r#"{"a":"b\u003dc\/d","q":"x=41&y=%20&amp;&#61;","p":"C:\\temp\\new"}"#,
        "a=3D b=\r\nc=",
        "100% of \\",
        "&#61",
        r"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\",
        "%%%%%%25252525%25%25&&&&====++++",
    ] {
        check_unchanged(&[VALUE, "correct horse", r"back\slash"], text);
    }
}

#[test]
fn a_match_is_masked_from_where_its_longest_spelling_begins() {
    // `"\***"` would be no JSON any more.
    check(&["/secret/value"], r#"{"path":"\/secret\/value"}"#, r#"{"path":"***"}"#);
    check(&["0secret=value"], r"\x30secret\x3dvalue", "***");
    check(&[r"C:\new\table"], r"C:\new\table", "***");
    check(&["secret-value"], r"C:\secret-value", "C:***");
    check(&["100%41=3D"], "<100%41=3D> <100%2541\\u003d3D>", "<***> <***>");
}

#[test]
fn a_stream_holds_an_escape_until_it_is_complete_and_no_longer() {
    let (mut stream, mut out) = (redactor(&["hunter=z"]).stream(), Vec::new());
    for (chunk, expect) in [
        ("50%", "50"),
        (" so ", "50% so "),
        (r"hunt\u00", "50% so "),
        ("65", "50% so "),
        (r"r\", "50% so "),
        ("u003", "50% so "),
        ("d", "50% so "),
        ("z", "50% so ***"),
        (r" hunter\u003dy", r"50% so *** hunter\u003dy"),
        ("&am", r"50% so *** hunter\u003dy"),
        ("ok", r"50% so *** hunter\u003dy&amok"),
    ] {
        stream.push(chunk.as_bytes(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expect, "after {chunk:?}");
    }
    assert!(stream.finish(&mut out), "one was found");
}

#[test]
fn a_stream_of_escapes_is_held_only_as_far_as_a_value_may_have_begun() {
    let redactor = redactor(&["hunter22", r"a\\b=%41", "secret value"]);
    for text in [
        r"\", "%", "=", "&", "+", r"\u00", "%25", "=\r\n", "=3D", "&amp;", r"\\\", "h", r"a\\", "%5c", "&#",
        "+ ",
    ] {
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        for byte in text.bytes().cycle().take(5_000) {
            stream.push(&[byte], &mut out);
            assert!(stream.held() <= 600, "{} bytes of {text:?} held", stream.held());
        }
    }
}

#[test]
fn the_beginning_of_an_escaped_value_at_the_end_of_a_cut_text_is_masked() {
    let redactor = redactor(&["hunter=22"]);
    for (text, expect) in [
        (r"say hunter\u003d", "say ***"),
        (r"say hunter\u0", "say ***"),
        (r"say hun\x74er=2", "say ***"),
        ("say hunter&am", "say ***"),
        ("say hunter&amok!", "say hunter&amok!"),
    ] {
        assert_eq!(redactor.redact_cut(text), expect, "{text}");
    }
}

#[test]
fn finding_agrees_with_masking() {
    let redactor = redactor(&[VALUE]);
    assert!(redactor.finds(br"<s3cr3t-VALUE/of+the\u003downer&co>"));
    assert!(!redactor.finds(br"<s3cr3t-VALUE/of+the\u003cowner&co>"));
    assert!(!Redactor::default().finds(VALUE.as_bytes()));
}

/// Texts made to be slow: nothing but what escapes consist of.
fn hostile_texts() -> Vec<String> {
    let pieces = [
        r"\", r"\\u005c", r"\u005c", "&amp;", "&", "&#", "&#38;", "%", "%25", "%2525", "%5c", "=", "=3D",
        "=\r\n", "+", r"\&%=+", r"\x5c", r"\134",
    ];
    let mut texts: Vec<String> = pieces.iter().map(|piece| piece.repeat(20_000 / piece.len())).collect();
    let mut dice = 0x5eed_u32;
    for letters in [r"\&%=+", r"\u05c&%2=3D+amp;#"] {
        let random = std::iter::repeat_with(|| {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(letters.as_bytes()[(dice >> 16) as usize % letters.len()])
        });
        texts.push(random.take(20_000).collect());
    }
    texts
}

#[test]
fn text_made_of_escapes_takes_a_few_steps_a_byte() {
    let ordinary = redactor(&[VALUE, "ghp_16C7e42F292c6912E7", "correct horse battery"]);
    // The author of the text knows what the secrets are made of.
    let escapes = redactor(&[r"\\\\\\\\", "%%%%", "&&&&", "====", "++++", r"\&%=+"]);
    for text in hostile_texts() {
        for (secrets, redactor, most) in [("ordinary", &ordinary, 12), ("escapes", &escapes, 150)] {
            let steps = redactor.work(text.as_bytes()).div_ceil(text.len());
            assert!(steps <= most, "{steps} steps a byte of {:?} with {secrets} secrets", &text[..20]);
        }
    }
}

/// An encoder of the field. It writes what it must in escapes, and of the rest what `also` says.
#[derive(Debug, Clone, Copy)]
enum Encoder {
    Json,
    Percent,
    Form,
    HtmlDecimal,
    HtmlHex,
    HtmlNamed,
    BackslashX,
    Octal,
    QuotedPrintable,
    Markdown,
}

const ENCODERS: [Encoder; 10] = [
    Encoder::Json,
    Encoder::Percent,
    Encoder::Form,
    Encoder::HtmlDecimal,
    Encoder::HtmlHex,
    Encoder::HtmlNamed,
    Encoder::BackslashX,
    Encoder::Octal,
    Encoder::QuotedPrintable,
    Encoder::Markdown,
];

impl Encoder {
    fn must(self, byte: u8) -> bool {
        match self {
            Self::Json => matches!(byte, b'"' | b'\\') || byte < b' ',
            Self::BackslashX | Self::Octal | Self::Markdown => byte == b'\\' || byte < b' ',
            Self::Percent => byte == b'%',
            Self::Form => matches!(byte, b'%' | b'+' | b' '),
            Self::HtmlDecimal | Self::HtmlHex | Self::HtmlNamed => byte == b'&',
            Self::QuotedPrintable => byte == b'=' || byte < b' ',
        }
    }

    fn written(self, byte: u8) -> String {
        let named = |byte: u8| match byte {
            b'&' => Some("&amp;"),
            b'=' => Some("&equals;"),
            b'+' => Some("&plus;"),
            b'/' => Some("&sol;"),
            b'%' => Some("&percnt;"),
            b'\\' => Some("&bsol;"),
            _ => None,
        };
        match self {
            Self::Json if byte == b'\\' => r"\\".to_owned(),
            Self::Json => format!("\\u{byte:04x}"),
            Self::Form if byte == b' ' => "+".to_owned(),
            Self::Percent | Self::Form => format!("%{byte:02X}"),
            Self::HtmlNamed => named(byte).map_or_else(|| format!("&#{byte};"), str::to_owned),
            Self::HtmlDecimal => format!("&#{byte};"),
            Self::HtmlHex => format!("&#x{byte:X};"),
            Self::Markdown if byte.is_ascii_punctuation() => format!("\\{}", char::from(byte)),
            Self::Markdown | Self::BackslashX => format!("\\x{byte:02x}"),
            Self::Octal => format!("\\{byte:03o}"),
            Self::QuotedPrintable => format!("={byte:02X}"),
        }
    }

    /// The text in this encoding; `also` says in turn which characters are escaped that need not be.
    fn encode(self, text: &str, also: &[bool]) -> String {
        let mut encoded = String::new();
        for (at, (byte, also)) in text.bytes().zip(also.iter().cycle()).enumerate() {
            if self.must(byte) || *also {
                encoded.push_str(&self.written(byte));
                if matches!(self, Self::QuotedPrintable) && byte % 8 == 5 && at + 1 < text.len() {
                    encoded.push_str("=\r\n");
                }
            } else {
                encoded.push(char::from(byte));
            }
        }
        encoded
    }
}

/// Which encoders a text goes through, one after the other, and what each of them escapes.
fn encoders() -> impl Strategy<Value = Vec<(Encoder, Vec<bool>)>> {
    vec((select(&ENCODERS[..]), vec(any::<bool>(), 1..9)), 1..4)
}

fn encoded(value: &str, encoders: &[(Encoder, Vec<bool>)]) -> String {
    encoders.iter().fold(value.to_owned(), |text, (encoder, also)| encoder.encode(&text, also))
}

/// Whether some reading of the text holds one of the patterns; where, if so. Slow and obvious.
fn readable(patterns: &[String], text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    for pattern in patterns {
        for start in 0..text.len() {
            let mut open = vec![(start, 0, 0)];
            let mut seen = std::collections::BTreeSet::new();
            while let Some((at, done, empty)) = open.pop() {
                if done == pattern.len() {
                    found.push(start..at);
                } else if at < text.len() && seen.insert((at, done, empty)) {
                    let (found, _) = Memo::default().read(text, at, true).expect("the text is whole");
                    for reading in found.iter() {
                        let bytes = reading.bytes();
                        let empties = if bytes.is_empty() { empty + 1 } else { 0 };
                        if pattern.as_bytes()[done..].starts_with(bytes)
                            && empties <= MOST_EMPTY
                            && (done > 0 || !bytes.is_empty())
                        {
                            open.push((at + reading.length(), done + bytes.len(), empties));
                        }
                    }
                }
            }
        }
    }
    found
}

fn patterns(values: &[String]) -> Vec<String> {
    crate::disguise::patterns(&secrets(values)).texts.iter().map(|pattern| pattern.to_string()).collect()
}

/// Texts that consist of little but escapes, whole and broken.
fn escapes() -> impl Strategy<Value = String> {
    let pieces = [
        r"\", r"\\", "%", "=", "&", "+", "a", "b", "=61", "%61", "%25", r"\u0061", r"\x62", r"\142", "&#97;",
        "&#x62", "=\r\n", "6", "1", "u00", "x6", "amp;", "&amp;", "&#", ";", "61", r"\/", "/", " ", "%5C",
        "=3D", "25", "*", "é", r"\u00e9", "%C3%A9", "&eacute;",
    ];
    vec(select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

fn values() -> impl Strategy<Value = Vec<String>> {
    vec("[ab/ \\\\=%&+]{4,7}|[ab]{4,5}|[abé*]{4,6}", 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_is_masked_whatever_encoders_it_went_through(
        value in "[A-Za-z0-9+/=&%\\\\ _.:;!-]{8,24}",
        encoders in encoders(),
        before in select(vec!["<", "", "=", "%", r"\", "&#", "%4", r"\u00", r"\x", "key=", "&"]),
        size in 1_usize..40,
    ) {
        prop_assume!(!value.starts_with(' ') && !value.ends_with(' '));
        let redactor = redactor(&[value.as_str()]);
        let text = format!("{before}{}>", encoded(&value, &encoders));
        let output = redactor.redact(&text).into_owned();
        let left = readable(std::slice::from_ref(&value), output.as_bytes());
        prop_assert!(left.is_empty(), "{value:?} in {output:?} of {text:?}");
        prop_assert!(output.len() < before.len() + 12, "{output:?} of {text:?}");
        prop_assert_eq!(streamed(redactor.stream(), text.as_bytes().chunks(size)), output.as_bytes());
    }

    #[test]
    fn no_reading_of_redacted_text_holds_a_value(values in values(), text in escapes()) {
        let output = redactor(&values).redact(&text).into_owned();
        let left = readable(&patterns(&values), output.as_bytes());
        prop_assert!(left.is_empty(), "{values:?} in {output:?} of {text:?} at {left:?}");
        prop_assert_eq!(redactor(&values).redact(&output), output.as_str(), "redacting twice changes nothing");
    }

    #[test]
    fn nothing_is_masked_that_is_not_part_of_a_match(values in values(), text in escapes()) {
        let mut marked = vec![false; text.len()];
        for found in readable(&patterns(&values), text.as_bytes()) {
            marked[found].fill(true);
        }
        let redactor = redactor(&values);
        let regions = redactor.find(text.as_bytes()).map(|(_, regions)| regions).unwrap_or_default();
        prop_assert_eq!(regions.is_empty(), !marked.contains(&true), "{:?}", text);
        for region in regions.iter() {
            prop_assert!(marked[region.clone()].iter().all(|marked| *marked), "{:?} of {:?}", region, text);
        }
    }

    #[test]
    fn a_stream_of_escapes_gives_what_one_shot_gives_however_it_is_cut(
        values in values(),
        text in escapes(),
        repeats in select(vec![1_usize, 1, 1, 30]),
        cuts in vec(any::<Index>(), 0..8),
    ) {
        let text = text.repeat(repeats);
        let redactor = redactor(&values);
        let expect = redactor.redact(&text);
        prop_assert_eq!(streamed(redactor.stream(), super::properties::cut(text.as_bytes(), &cuts)), expect.as_bytes());
        prop_assert_eq!(streamed(redactor.stream(), text.as_bytes().chunks(1)), expect.as_bytes());
        let compact = Redactor::with_table_limit(&secrets(&values), 0).expect("the values can be redacted");
        prop_assert_eq!(compact.redact(&text), expect);
    }

    #[test]
    fn escapes_without_a_value_in_them_are_unchanged(value in "[A-Z]{8,12}", text in escapes()) {
        let redactor = redactor(&[value]);
        prop_assert_eq!(redactor.redact(&text), text.as_str());
        prop_assert_eq!(streamed(redactor.stream(), text.as_bytes().chunks(3)), text.as_bytes());
    }
}
