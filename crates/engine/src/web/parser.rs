//! The parsers of `safety.parser`: text in, JSON text out. They run inside the cell, beside the guest.
//!
//! The engine cannot stop them while they run, so the bounds of the parsers have to keep each call short; the clock is
//! looked at before. What they hold while they work is not the guest's memory but the process's: their bounds keep it
//! below what the cell has beside the guest's share. What they give back counts as the guest's.

use std::rc::Rc;

use bailiwick_parser::csv::{Columns, Header, ReadOptions, WriteOptions};
use bailiwick_parser::html::TableRows;
use bailiwick_parser::{ParseError, bounds, csv, html, xml, yaml};
use rquickjs::function::Rest;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::{admit, put};
use crate::raw::value::text;
use crate::world::World;

type Parsed = std::result::Result<String, ParseError>;

/// One of the parsers.
type Parse = fn(&Arguments) -> Parsed;

/// What a script gave, each as text; what was undefined is none.
struct Arguments(Vec<Option<String>>);

impl Arguments {
    fn optional(&self, place: usize) -> Option<&str> {
        self.0.get(place).and_then(Option::as_deref)
    }

    fn text(&self, place: usize) -> &str {
        self.optional(place).unwrap_or_default()
    }

    fn flag(&self, place: usize) -> bool {
        self.text(place) == "true"
    }

    /// The delimiter and the quote of CSV, one behind the other.
    fn marks(&self, place: usize) -> (char, char) {
        let mut marks = self.text(place).chars();
        // A character that no text begins with is refused by the parser.
        (marks.next().unwrap_or('\0'), marks.next().unwrap_or('\0'))
    }

    /// Names, which our script wrote as JSON.
    fn names(&self, place: usize) -> Option<Vec<String>> {
        serde_json::from_str(self.text(place)).ok()
    }
}

pub(super) fn place<'js>(ctx: &Ctx<'js>, native: &Object<'js>, world: &Rc<World>) -> Result<()> {
    native.set("parserInput", bounds::INPUT_BYTES)?;
    let parsers: [(&str, Parse); 11] = [
        ("parseHtmlSelect", |given| {
            html::select(given.text(0), given.text(1), given.optional(2).and_then(|limit| limit.parse().ok()))
        }),
        ("parseHtmlText", |given| html::text(given.text(0), given.optional(1))),
        ("parseHtmlAttribute", |given| html::attribute(given.text(0), given.text(1), given.text(2))),
        ("parseHtmlTables", |given| {
            let rows = if given.flag(2) { TableRows::Objects } else { TableRows::Lists };
            html::tables(given.text(0), given.optional(1), rows)
        }),
        ("parseHtmlMain", |given| html::main(given.text(0))),
        ("parseHtmlLinks", |given| html::links(given.text(0), given.optional(1))),
        ("parseXml", |given| xml::parse(given.text(0))),
        ("parseCsv", read_csv),
        ("writeCsv", write_csv),
        ("parseYaml", |given| {
            if given.flag(1) { yaml::parse_all(given.text(0)) } else { yaml::parse(given.text(0)) }
        }),
        ("writeYaml", |given| yaml::stringify(given.text(0))),
    ];
    for (name, parse) in parsers {
        let shared = Rc::clone(world);
        let function = move |ctx: Ctx<'js>, given: Rest<Value<'js>>| call(&ctx, &shared, &given, parse);
        put(native, name, Function::new(ctx.clone(), function)?)?;
    }
    Ok(())
}

/// Gives the result behind `+`, or behind `-` the reason and the message, each in a line.
fn call<'js>(ctx: &Ctx<'js>, world: &World, given: &[Value<'js>], parse: Parse) -> Result<String> {
    let mut arguments = Vec::with_capacity(given.len());
    for value in given {
        let argument = if value.is_undefined() { None } else { Some(text(value)?) };
        arguments.push(argument);
    }
    let bytes: usize = arguments.iter().flatten().map(String::len).sum();
    if bytes > LONG && world.watch.look() {
        return Err(Exception::throw_internal(ctx, "interrupted"));
    }
    let answer = match parse(&Arguments(arguments)) {
        Ok(mut result) => {
            result.insert(0, '+');
            result
        }
        Err(error) => format!("-{}\n{error}", error.reason().word()),
    };
    admit(ctx, world, answer.len())?;
    Ok(answer)
}

/// A text of this size takes long enough to look at the clock first.
const LONG: usize = 1024;

fn read_csv(given: &Arguments) -> Parsed {
    let (delimiter, quote) = given.marks(2);
    let header = match given.text(1) {
        "none" => Header::None,
        _ => given.names(1).map_or(Header::First, Header::Names),
    };
    csv::parse(given.text(0), &ReadOptions { header, delimiter, quote, trim: given.flag(3) })
}

fn write_csv(given: &Arguments) -> Parsed {
    let (delimiter, quote) = given.marks(2);
    let columns = match given.text(1) {
        "none" => Columns::FoundWithoutNames,
        _ => given.names(1).map_or(Columns::Found, Columns::Names),
    };
    csv::stringify(given.text(0), &WriteOptions { columns, delimiter, quote, always: given.flag(3) })
}
