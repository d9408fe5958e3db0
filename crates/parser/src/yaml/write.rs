//! Plain data to YAML, in blocks; texts that could be read as something else are in quotes.

use super::scalar::{Kind, kind_of};
use crate::ParseError;
use crate::bounds::{OUTPUT_BYTES, check_size};
use crate::json_in::{Piece, Pieces};
use crate::json_out::{output_too_large, quote};

/// Words that older readers take for true or false.
const OLD_WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off"];

/// What begins a text in the JSON that says more than JSON can: twice, it is a text that begins with it; with a
/// [number](NUMBERS) behind it, it is that number.
const MARK: char = '\0';

/// The numbers that JSON has no word for and YAML has.
const NUMBERS: &[&str] = &[".inf", "-.inf"];

/// Writes a value, given as JSON. A text `"\0.inf"` or `"\0-.inf"` stands for that number; every other that begins
/// with U+0000 has it twice.
pub fn stringify(value: &str) -> Result<String, ParseError> {
    check_size(value)?;
    let mut pieces = Pieces::new(value);
    let mut out = String::new();
    // What is open, by whether it is a map.
    let mut open: Vec<bool> = Vec::new();
    // The beginning of the line is there already: behind a dash.
    let mut in_line = false;
    let mut next = pieces.next()?;
    while let Some(piece) = next {
        if out.len() > OUTPUT_BYTES {
            return Err(output_too_large());
        }
        next = pieces.next()?;
        let indent = open.len().saturating_sub(1) * 2;
        let in_list = open.last() == Some(&false);
        if in_list && !matches!(piece, Piece::CloseList | Piece::CloseMap | Piece::Key(_)) {
            begin_line(&mut out, &mut in_line, indent);
            out.push_str("- ");
            in_line = true;
        }
        match piece {
            Piece::Key(name) => {
                begin_line(&mut out, &mut in_line, indent);
                write_text(&name, &mut out);
                out.push(':');
                let opens = matches!(next, Some(Piece::OpenList | Piece::OpenMap));
                if !opens {
                    out.push(' ');
                }
            }
            Piece::OpenList | Piece::OpenMap => {
                let is_map = piece == Piece::OpenMap;
                let behind_key = open.last() == Some(&true);
                if matches!(next, Some(Piece::CloseList | Piece::CloseMap)) {
                    if behind_key {
                        out.push(' ');
                    }
                    out.push_str(if is_map { "{}\n" } else { "[]\n" });
                    in_line = false;
                    next = pieces.next()?;
                    continue;
                }
                if behind_key {
                    out.push('\n');
                    in_line = false;
                }
                open.push(is_map);
            }
            Piece::CloseList | Piece::CloseMap => drop(open.pop()),
            Piece::Text(text) => {
                match text.strip_prefix(MARK) {
                    Some(number) if NUMBERS.contains(&number) => out.push_str(number),
                    Some(text) => write_text(text, &mut out),
                    None => write_text(&text, &mut out),
                }
                out.push('\n');
                in_line = false;
            }
            Piece::Word(word) => {
                out.push_str(word);
                out.push('\n');
                in_line = false;
            }
        }
    }
    if out.len() > OUTPUT_BYTES {
        return Err(output_too_large());
    }
    Ok(out)
}

fn begin_line(out: &mut String, in_line: &mut bool, indent: usize) {
    if !std::mem::take(in_line) {
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

fn write_text(text: &str, out: &mut String) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        quote(text, out);
    }
}

/// Whether a text needs no quotes. Narrower than YAML: who is in doubt puts it in quotes.
fn is_plain(text: &str) -> bool {
    let safe = |c: char| {
        c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '@' | '+' | '(' | ')' | ';')
    };
    let mut characters = text.chars().peekable();
    let begins = characters.peek().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '/'));
    let mut all_safe = true;
    while let Some(c) = characters.next() {
        let colon = c == ':' && characters.peek().is_some_and(|next| safe(*next) && *next != ' ');
        all_safe &= safe(c) || colon;
    }
    begins
        && all_safe
        && !text.ends_with(' ')
        && kind_of(text) == Kind::Text
        && !OLD_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}
