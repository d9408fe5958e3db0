//! How far the scanner of YAML reads ahead of what it tells.
//!
//! A list or map in brackets may turn out to be a key, so the scanner keeps all of it, token by token, before it tells
//! of its beginning. It has no bound there. Here is one: what can begin a token is counted since something was last
//! told, and a text that goes on too long ends early for the scanner, and in an error for who asked.

use std::cell::Cell;
use std::rc::Rc;

use crate::bounds::FLOW_MARKS;
use crate::place::grouped;
use crate::{ParseError, Reason};

/// What was read since something was last told.
#[derive(Clone)]
pub(super) struct Lookahead(Rc<Marks>);

struct Marks {
    /// How often something was told since a bracket was last opened.
    told: Cell<usize>,
    count: Cell<usize>,
}

/// So many times something may be told before a bracket matters that was read: the input is buffered a little.
const BUFFERED: usize = 64;

impl Lookahead {
    pub(super) fn new() -> Self {
        Self(Rc::new(Marks { told: Cell::new(BUFFERED), count: Cell::new(0) }))
    }

    /// The characters of a text, as long as not too much is read ahead.
    pub(super) fn over<'a>(&self, text: &'a str) -> impl Iterator<Item = char> + use<'a> {
        let marks = Rc::clone(&self.0);
        text.chars().take_while(move |c| {
            if matches!(c, '[' | '{') {
                marks.told.set(0);
            }
            // Two texts without one of these between them are one text.
            let begins = matches!(c, ',' | '[' | ']' | '{' | '}' | ':' | '?' | '&' | '*' | '!' | '"' | '\'');
            if begins && marks.told.get() < BUFFERED {
                marks.count.set(marks.count.get() + 1);
            }
            marks.count.get() <= FLOW_MARKS
        })
    }

    /// The scanner told something: what it read before is settled.
    pub(super) fn settled(&self) {
        self.0.told.set(self.0.told.get().saturating_add(1));
        self.0.count.set(0);
    }

    /// Whether the text was ended early.
    pub(super) fn check(&self) -> Result<(), ParseError> {
        if self.0.count.get() <= FLOW_MARKS {
            return Ok(());
        }
        let message = format!(
            "a list or map in brackets has more than {} marks (brackets, commas, colons, quotes); write it in lines, \
             or read it with JSON.parse if it is JSON",
            grouped(FLOW_MARKS)
        );
        Err(ParseError::new(Reason::TooManyNodes, message))
    }
}
