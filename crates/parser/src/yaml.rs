//! YAML: plain data only, to and from.
//!
//! Plain scalars follow the core schema of YAML 1.2: `no` is a text, `017` is seventeen. An integer that JavaScript
//! cannot hold exactly is rounded, as `JSON.parse` does; put it in quotes to keep it. Tags other than those of the core
//! schema are refused, and so are a key given twice, keys that are lists or maps, and merge keys (`<<`): which of two
//! values would hold is not for us to guess. An alias stands for a copy; copies count against the bounds as if they
//! had been written out.
//!
//! Built on events and not on a reader of whole values, so that depth and aliases are ours to bound: what is written
//! so far is the only copy of a value, and an alias copies a piece of it.

mod lookahead;
mod scalar;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use self::lookahead::Lookahead;
use self::scalar::{Kind, Scalar};
pub use self::write::stringify;
use crate::bounds::{ALIASES, DEPTH, KEY_BYTES, NODES, check_size};
use crate::json_out::Json;
use crate::place::{Place, grouped, shortened};
use crate::{ParseError, Reason};

/// Reads the one document of a text. No document is null.
pub fn parse(text: &str) -> Result<String, ParseError> {
    read(text, Documents::One)
}

/// Reads all documents of a text into a list.
pub fn parse_all(text: &str) -> Result<String, ParseError> {
    read(text, Documents::All)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Documents {
    One,
    All,
}

/// A list or map that is not closed.
struct Open {
    start: usize,
    anchor: usize,
    nodes_before: usize,
    /// The keys so far, if it is a map.
    keys: Option<BTreeSet<String>>,
    /// A key was read, its value was not.
    value_next: bool,
}

/// A value that an alias can stand for.
#[derive(Clone, Copy)]
struct Anchored {
    start: usize,
    end: usize,
    nodes: usize,
    depth: usize,
}

struct Reader {
    json: Json,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Anchored>,
    nodes: usize,
    aliases: usize,
    /// The deepest since each open list or map began is the deepest in all that is at or above it.
    deepest: Vec<usize>,
}

fn read(text: &str, wanted: Documents) -> Result<String, ParseError> {
    check_size(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        json: Json::default(),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        nodes: 0,
        aliases: 0,
        deepest: Vec::new(),
    };
    if wanted == Documents::All {
        reader.json.open('[')?;
    }
    let mut documents = 0_usize;
    let lookahead = Lookahead::new();
    for event in Parser::new_from_iter(lookahead.over(text)) {
        lookahead.check()?;
        lookahead.settled();
        let (event, span) = event.map_err(|error| {
            let place = place_of(error.marker());
            // The scanner looks ahead over brackets and has a limit of its own there.
            if error.info().contains("recursion limit") {
                return too_deep(place);
            }
            ParseError::at(place, Reason::Malformed, format!("not valid YAML: {}", shortened(error.info())))
        })?;
        let place = place_of(&span.start);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                documents += 1;
                reader.anchors.clear();
                if documents > 1 && wanted == Documents::One {
                    let message = "a second document begins here; only one is read";
                    return Err(ParseError::at(place, Reason::ManyDocuments, message));
                }
            }
            Event::Alias(anchor) => reader.alias(anchor, place)?,
            Event::Scalar(value, style, anchor, tag) => {
                reader.scalar(&value, style, anchor, tag.as_deref(), place)?;
            }
            Event::SequenceStart(anchor, tag) => reader.begin(false, anchor, tag.as_deref(), place)?,
            Event::MappingStart(anchor, tag) => reader.begin(true, anchor, tag.as_deref(), place)?,
            Event::SequenceEnd | Event::MappingEnd => reader.end(),
        }
    }
    match wanted {
        Documents::All => reader.json.close(']'),
        Documents::One if reader.json.len() == 0 => reader.json.raw("null")?,
        Documents::One => {}
    }
    reader.json.finish()
}

impl Reader {
    fn count(&mut self, more: usize, place: Place) -> Result<(), ParseError> {
        self.nodes += more;
        if self.nodes > NODES {
            let message = format!(
                "there are more than {} values, those that aliases stand for counted",
                grouped(NODES)
            );
            return Err(ParseError::at(place, Reason::TooManyNodes, message));
        }
        Ok(())
    }

    /// Whether what comes next is a key.
    fn at_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.keys.is_some() && !open.value_next)
    }

    /// A value was written: if it was that of a key, a key comes next.
    fn written(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.value_next = false;
        }
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        place: Place,
    ) -> Result<(), ParseError> {
        self.count(1, place)?;
        let tag = match tag {
            Some(tag) if is_non_specific(tag) => Some(Kind::Text),
            tag => tag.map(|tag| core_tag(tag, place)).transpose()?,
        };
        let plain = style == ScalarStyle::Plain;
        if self.at_key() {
            return self.key(value, plain && tag.is_none(), place);
        }
        let read = Scalar::read(value, plain, tag).map_err(|reason| {
            let message = match reason {
                Reason::BadNumber => "`.nan` is no plain data; put it in quotes or leave it out".to_owned(),
                _ => format!("`{}` is not what its tag says", shortened(value)),
            };
            ParseError::at(place, reason, message)
        })?;
        let start = self.json.begin();
        match read {
            Scalar::Text => self.json.text(value)?,
            Scalar::Json(json) => self.json.raw(&json)?,
        }
        self.keep(anchor, start, 1, 0);
        self.written();
        Ok(())
    }

    fn key(&mut self, value: &str, plain: bool, place: Place) -> Result<(), ParseError> {
        if plain && value == "<<" {
            let message = "a merge key (`<<`) is not accepted; write the values out";
            return Err(ParseError::at(place, Reason::MergeKey, message));
        }
        if value.len() > KEY_BYTES {
            let message = format!("a key is longer than {} bytes", grouped(KEY_BYTES));
            return Err(ParseError::at(place, Reason::BadKey, message));
        }
        let name = if plain && matches!(value, "" | "~") { "null" } else { value };
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.value_next = true;
        if open.keys.as_mut().is_some_and(|keys| !keys.insert(name.to_owned())) {
            let message = format!("`{}` is given twice", shortened(name));
            return Err(ParseError::at(place, Reason::DuplicateKey, message));
        }
        self.json.key(name)
    }

    fn begin(&mut self, map: bool, anchor: usize, tag: Option<&Tag>, place: Place) -> Result<(), ParseError> {
        if self.at_key() {
            return Err(ParseError::at(place, Reason::BadKey, "a key must be a text, not a list or a map"));
        }
        let wanted = if map { Kind::Map } else { Kind::List };
        if let Some(tag) = tag.filter(|tag| !is_non_specific(tag))
            && core_tag(tag, place)? != wanted
        {
            return Err(ParseError::at(place, Reason::Malformed, "the value is not what its tag says"));
        }
        let nodes_before = self.nodes;
        self.count(1, place)?;
        if self.open.len() >= DEPTH {
            return Err(too_deep(place));
        }
        let start = self.json.begin();
        self.json.open(if map { '{' } else { '[' })?;
        let keys = map.then(BTreeSet::new);
        self.open.push(Open { start, anchor, nodes_before, keys, value_next: false });
        self.deepest.push(1);
        Ok(())
    }

    fn end(&mut self) {
        let Some(closed) = self.open.pop() else { return };
        self.json.close(if closed.keys.is_some() { '}' } else { ']' });
        let depth = self.deepest.pop().unwrap_or(1);
        self.deepened(depth);
        self.keep(closed.anchor, closed.start, self.nodes - closed.nodes_before, depth);
        self.written();
    }

    /// What is open holds something this deep.
    fn deepened(&mut self, depth: usize) {
        if let Some(above) = self.deepest.last_mut() {
            *above = (*above).max(depth + 1);
        }
    }

    fn keep(&mut self, anchor: usize, start: usize, nodes: usize, depth: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored { start, end: self.json.len(), nodes, depth });
        }
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), ParseError> {
        self.aliases += 1;
        if self.aliases > ALIASES {
            let message = format!("there are more than {} aliases", grouped(ALIASES));
            return Err(ParseError::at(place, Reason::TooManyAliases, message));
        }
        if self.at_key() {
            return Err(ParseError::at(place, Reason::BadKey, "a key must be a text, not an alias"));
        }
        let Some(meant) = self.anchors.get(&anchor).copied() else {
            let message = "an alias is inside the value that it stands for, or stands for none";
            return Err(ParseError::at(place, Reason::Cycle, message));
        };
        self.count(meant.nodes, place)?;
        if self.open.len() + meant.depth > DEPTH {
            return Err(too_deep(place));
        }
        let copy = self.json.between(meant.start, meant.end).to_owned();
        self.json.raw(&copy)?;
        self.deepened(meant.depth);
        self.written();
        Ok(())
    }
}

/// Whether a tag is `!`: not what the schema would make of a value, but a text, a list or a map.
fn is_non_specific(tag: &Tag) -> bool {
    matches!((tag.handle.as_str(), tag.suffix.as_str()), ("", "!") | ("!", ""))
}

/// The kind that a tag of the core schema names.
fn core_tag(tag: &Tag, place: Place) -> Result<Kind, ParseError> {
    let core = matches!(tag.handle.as_str(), "tag:yaml.org,2002:" | "!!");
    let kind = match tag.suffix.as_str() {
        "str" if core => Kind::Text,
        "int" if core => Kind::Integer,
        "float" if core => Kind::Float,
        "bool" if core => Kind::Bool,
        "null" if core => Kind::Null,
        "map" if core => Kind::Map,
        "seq" if core => Kind::List,
        _ => {
            let name = shortened(&format!("{}{}", tag.handle, tag.suffix));
            let message = format!("the tag `{name}` is not accepted; write the plain value");
            return Err(ParseError::at(place, Reason::CustomTag, message));
        }
    };
    Ok(kind)
}

fn too_deep(place: Place) -> ParseError {
    ParseError::at(
        place,
        Reason::TooDeep,
        format!("lists and maps are nested deeper than the limit of {DEPTH}"),
    )
}

fn place_of(marker: &Marker) -> Place {
    // The parser counts lines from 1 and columns from 0.
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}
