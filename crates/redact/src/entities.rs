//! The named character references of HTML that stand for a character of ASCII or Latin-1.
//!
//! Values are made of these characters; a reference to any other is left as it is.

use std::sync::LazyLock;

/// The longest name below.
pub(crate) const LONGEST_NAME: usize = 12;

/// A name, the character, and whether browsers accept the name without a semicolon.
type Entity = (&'static str, char, Semicolon);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Semicolon {
    Required,
    Optional,
}

use Semicolon::{Optional, Required};

#[rustfmt::skip]
const ASCII: [Entity; 44] = [
    ("AMP", '&', Optional), ("GT", '>', Optional), ("LT", '<', Optional), ("QUOT", '"', Optional),
    ("amp", '&', Optional), ("gt", '>', Optional), ("lt", '<', Optional), ("quot", '"', Optional),
    ("Hat", '^', Required), ("NewLine", '\n', Required), ("Tab", '\t', Required), ("UnderBar", '_', Required),
    ("VerticalLine", '|', Required), ("apos", '\'', Required), ("ast", '*', Required), ("bsol", '\\', Required),
    ("colon", ':', Required), ("comma", ',', Required), ("commat", '@', Required), ("dollar", '$', Required),
    ("equals", '=', Required), ("excl", '!', Required), ("grave", '`', Required), ("lbrace", '{', Required),
    ("lbrack", '[', Required), ("lcub", '{', Required), ("lowbar", '_', Required), ("lpar", '(', Required),
    ("lsqb", '[', Required), ("midast", '*', Required), ("num", '#', Required), ("percnt", '%', Required),
    ("period", '.', Required), ("plus", '+', Required), ("quest", '?', Required), ("rbrace", '}', Required),
    ("rbrack", ']', Required), ("rcub", '}', Required), ("rpar", ')', Required), ("rsqb", ']', Required),
    ("semi", ';', Required), ("sol", '/', Required), ("verbar", '|', Required), ("vert", '|', Required),
];

/// The names of U+00A0 to U+00FF, in order; all of them are accepted without a semicolon.
#[rustfmt::skip]
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// The character that a name followed by a semicolon stands for.
pub(crate) fn named(name: &[u8]) -> Option<char> {
    ASCII.iter().find(|(one, ..)| one.as_bytes() == name).map(|(_, char, _)| *char).or_else(|| latin_1(name))
}

/// The character that a name stands for without a semicolon, if browsers accept it.
pub(crate) fn named_without_semicolon(name: &[u8]) -> Option<char> {
    let short = ASCII.iter().find(|(one, _, semicolon)| *semicolon == Optional && one.as_bytes() == name);
    short.map(|(_, char, _)| *char).or_else(|| latin_1(name))
}

/// Whether some name begins like this.
pub(crate) fn begins_a_name(beginning: &[u8]) -> bool {
    static SORTED: LazyLock<Vec<&'static [u8]>> = LazyLock::new(|| {
        let names = ASCII.iter().map(|(name, ..)| *name).chain(LATIN_1);
        let mut names: Vec<&[u8]> = names.map(str::as_bytes).collect();
        names.sort_unstable();
        names
    });
    let at = SORTED.partition_point(|name| *name < beginning);
    SORTED.get(at).is_some_and(|name| name.starts_with(beginning))
}

fn latin_1(name: &[u8]) -> Option<char> {
    let at = LATIN_1.iter().position(|one| one.as_bytes() == name)?;
    u32::try_from(at).ok().and_then(|at| char::from_u32(0xa0 + at))
}
