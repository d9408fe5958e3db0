//! The words of a command, and what is refused of them before anything runs.
//!
//! - The program is its author's: no slot in the first word.
//! - A value stays in its word, and a word that begins with a value never begins with `-` unless `--` stands before it or
//!   `enum` lists the values: no argument becomes an option.
//! - An option's name is its author's, too: what stands before a slot says it in full.
//! - A word whose argument is not given is left out; an option before it would take the next word, so that is refused.
//! - A text that a program reads as code has no slots.
//!
//! What a program makes of a word that is no option (`@file`, `of=…`) is its own affair: the sandbox is the wall.

use bailiwick_types::shortened;

use super::code_words;
use super::template::{Fault, Piece, Template, known};
use crate::param::{Param, ParamType};

/// An item of `argv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A word.
    Word(Word),
    /// Words that are there when a parameter is given; for a BOOLEAN, when it is true.
    When {
        /// The parameter.
        param: String,
        /// The words.
        words: Vec<Word>,
    },
}

/// A word, or one for each element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// One word.
    One(Template),
    /// One for each element of this ARRAY: `{param...}`.
    Each(String),
}

impl Word {
    /// Reads a word.
    pub(super) fn parse(text: &str, params: &[Param]) -> Result<Self, Fault> {
        let spread = text.strip_prefix('{').and_then(|rest| rest.strip_suffix("...}"));
        let Some(name) = spread.filter(|name| !name.contains(['{', '}'])) else {
            return Template::parse(text, params).map(Self::One);
        };
        let param = known(name, params)?;
        if param.kind == ParamType::Array {
            return Ok(Self::Each(name.to_owned()));
        }
        Err(Fault::new(
            format!("`{name}` is {}, and only a list has several words", param.kind.article()),
            format!("write {{{name}}}, or declare it as ARRAY"),
        ))
    }

    /// As a document writes it.
    pub(super) fn written(&self) -> String {
        match self {
            Self::One(template) => template.written(),
            Self::Each(name) => format!("{{{name}...}}"),
        }
    }

    /// The text, where it has no slots.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::One(template) => template.literal(),
            Self::Each(_) => None,
        }
    }

    /// Whether a call can leave it out. `given` is known to be there.
    fn can_be_absent(&self, params: &[Param], given: Option<&str>) -> bool {
        let is_optional = |name: &str| {
            Some(name) != given
                && params.iter().any(|param| param.name == name && !param.required && param.default.is_none())
        };
        match self {
            Self::One(template) => template.slots().any(is_optional),
            // A list may be empty.
            Self::Each(_) => true,
        }
    }

    /// Whether what stands before its first slot lets an argument choose an option.
    fn option_fault(&self, params: &[Param]) -> Option<Fault> {
        let Self::One(template) = self else { return None };
        let first = template.slots().next()?;
        let prefix = template.prefix();
        if !prefix.starts_with('-') || prefix.contains('=') {
            return None;
        }
        let param = params.iter().find(|param| param.name == first)?;
        let is_number = matches!(param.kind, ParamType::Integer | ParamType::Number);
        let is_short = !prefix.starts_with("--") && prefix.len() > 1;
        if !param.choices.is_empty() || (is_short && is_number) {
            return None;
        }
        Some(Fault::new(
            format!("in `{}` the argument would say which option it is", shortened(&self.written())),
            format!("write --option={{{first}}}, or two words, or list the values with `enum`"),
        ))
    }
}

/// Every mistake in a list of items: the index of the item, and what is wrong.
pub(super) fn faults(items: &[Item], params: &[Param]) -> Vec<(usize, Fault)> {
    let mut found = Vec::new();
    if let Some(fault) = program_fault(items.first()) {
        found.push((0, fault));
    }
    let flat = flat(items);
    for Placed { index, word, .. } in flat.iter().skip(1) {
        if let Some(fault) = word.option_fault(params) {
            found.push((*index, fault));
        }
    }
    for (before, Placed { index, word, given }) in flat.iter().zip(flat.iter().skip(1)) {
        if let Some(fault) = dangling(before.word, word, params, *given) {
            found.push((*index, fault));
        }
    }
    let words: Vec<&Word> = flat.iter().map(|placed| placed.word).collect();
    for at in code_words::with_slots(&words) {
        let index = flat.get(at).map_or(0, |placed| placed.index);
        found.push((
            index,
            Fault::new(
                "a text that is read as code has no slots: an argument would become code",
                "write the code as it is, and give it the value as a word behind it, on stdin or in `env`",
            ),
        ));
    }
    found.sort_by_key(|(index, _)| *index);
    found
}

/// A word, the index of the item that it stands in, and the parameter that is known to be given there.
struct Placed<'a> {
    index: usize,
    word: &'a Word,
    given: Option<&'a str>,
}

/// All words, those of groups among the others.
fn flat(items: &[Item]) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Word(word) => all.push(Placed { index, word, given: None }),
            Item::When { param, words } => {
                all.extend(words.iter().map(|word| Placed { index, word, given: Some(param) }));
            }
        }
    }
    all
}

fn program_fault(first: Option<&Item>) -> Option<Fault> {
    match first {
        Some(Item::Word(word)) if word.literal().is_some_and(|text| !text.is_empty()) => None,
        Some(Item::Word(word)) if word.literal().is_some() => {
            Some(Fault::new("the name of the program is empty", "write which program is run"))
        }
        Some(_) => Some(Fault::new(
            "which program is run cannot depend on an argument",
            "write the program as it is in the first item of `argv`",
        )),
        None => Some(Fault::new("there is no command: `argv` is empty", "write a program and its words")),
    }
}

/// An option that stays where the word behind it is left out.
fn dangling(before: &Word, word: &Word, params: &[Param], given: Option<&str>) -> Option<Fault> {
    let option = before.literal()?;
    let is_option = option.starts_with('-') && !matches!(option, "-" | "--") && !option.contains('=');
    if !is_option || !word.can_be_absent(params, given) {
        return None;
    }
    let slot = match word {
        Word::Each(name) => name.as_str(),
        // An option by itself is no value of the one before it.
        Word::One(template) if template.prefix().starts_with('-') => return None,
        Word::One(template) => template.slots().next().unwrap_or_default(),
    };
    let option = shortened(option);
    Some(Fault::new(
        format!("where `{slot}` is not given, `{option}` stays and would take the next word"),
        format!(
            "write {{when: {slot}, words: [\"{option}\", …]}}, or {option}=… in one word, or give it a default"
        ),
    ))
}

/// Whether a filled word begins with what an argument gave, so that it must not look like an option.
pub(super) fn begins_with_value(template: &Template) -> bool {
    matches!(template.pieces.first(), Some(Piece::Slot(_)))
}
