//! What a schema may cost, and what it may refer to: told before it is compiled.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::walk::{Kept, is_applied, parts};
use super::{DEEPEST, MOST_PARTS, MOST_PATTERNS, SchemaFault};

/// The one dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Words that are not accepted, and what to write instead. Those of older drafts are here because the validator would
/// still follow what stands below them.
const REFUSED: &[(&str, &str)] = &[
    ("$id", BY_PLACE),
    ("$anchor", BY_PLACE),
    ("$dynamicRef", BY_PLACE),
    ("$dynamicAnchor", BY_PLACE),
    ("$recursiveRef", BY_PLACE),
    ("$recursiveAnchor", BY_PLACE),
    ("$vocabulary", "leave it out"),
    ("additionalItems", "write `prefixItems` and `items`"),
    ("dependencies", "write `dependentSchemas` or `dependentRequired`"),
];
const BY_PLACE: &str = "refer to a part by its place: \"#/$defs/NAME\"";

/// What a subschema unfolds to.
#[derive(Debug, Clone, Copy)]
struct Unfolded {
    parts: usize,
    height: usize,
}

/// A subschema that was come to.
#[derive(Debug, Clone, Copy)]
enum Seen {
    /// Its references are being followed right now.
    Open,
    Done(Unfolded),
}

/// A walk through a schema that follows references. Each subschema is looked at once.
struct Walk<'a> {
    root: &'a Value,
    seen: HashMap<*const Value, Seen>,
    patterns: usize,
}

/// What a schema costs to compile and to hold.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// The parts that it unfolds to.
    pub(crate) parts: usize,
    /// Its regular expressions.
    pub(crate) patterns: usize,
}

/// What a schema costs. Refuses one that costs too much or points outside itself.
pub(crate) fn cost(schema: &Value) -> Result<Cost, SchemaFault> {
    if !schema.is_object() {
        return Err(SchemaFault::new(
            "is not a map",
            "a schema is a map such as {type: array, items: {type: string}}",
        ));
    }
    let mut walk = Walk { root: schema, seen: HashMap::new(), patterns: 0 };
    let unfolded = walk.unfold(schema, 1)?;
    Ok(Cost { parts: unfolded.parts, patterns: walk.patterns })
}

impl<'a> Walk<'a> {
    /// Recurses at most [`DEEPEST`] deep, references included.
    fn unfold(&mut self, schema: &'a Value, depth: usize) -> Result<Unfolded, SchemaFault> {
        let Value::Object(fields) = schema else { return Ok(Unfolded { parts: 1, height: 1 }) };
        match self.seen.get(&std::ptr::from_ref(schema)) {
            Some(Seen::Open) => {
                return Err(SchemaFault::new(
                    "has a reference that leads back to itself",
                    "write out as many levels as are needed",
                ));
            }
            Some(Seen::Done(unfolded)) if depth + unfolded.height > DEEPEST => return Err(too_deep()),
            Some(Seen::Done(unfolded)) => return Ok(*unfolded),
            None if depth > DEEPEST => return Err(too_deep()),
            None => {}
        }
        self.words(fields)?;
        self.seen.insert(std::ptr::from_ref(schema), Seen::Open);
        let mut sum = Unfolded { parts: 1 + own_values(fields), height: 1 };
        let target = fields.get("$ref").map(|target| self.target(target)).transpose()?;
        let below = parts(fields).chain(target.map(|target| (target, Kept::InUse)));
        for (part, kept) in below {
            let unfolded = self.unfold(part, depth + 1)?;
            sum.height = sum.height.max(unfolded.height + 1);
            // What is only kept for references costs where it is referred to.
            sum.parts = sum.parts.saturating_add(if kept == Kept::InUse { unfolded.parts } else { 1 });
        }
        if sum.parts > MOST_PARTS {
            return Err(SchemaFault::new(
                format!("unfolds to more than {MOST_PARTS} parts"),
                "say less: a check costs time for each part",
            ));
        }
        self.seen.insert(std::ptr::from_ref(schema), Seen::Done(sum));
        Ok(sum)
    }

    /// Words that would make a schema mean something else, or point elsewhere.
    fn words(&mut self, fields: &Map<String, Value>) -> Result<(), SchemaFault> {
        for (word, instead) in REFUSED {
            if fields.contains_key(*word) {
                return Err(SchemaFault::new(format!("has `{word}`, which is not accepted"), instead));
            }
        }
        if let Some(dialect) = fields.get("$schema")
            && dialect.as_str().map(|text| text.trim_end_matches('#')) != Some(DIALECT)
        {
            return Err(SchemaFault::new(
                "names another `$schema` than draft 2020-12",
                "leave `$schema` out, and write it in draft 2020-12",
            ));
        }
        self.patterns += usize::from(fields.contains_key("pattern"));
        self.patterns += fields.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        if self.patterns > MOST_PATTERNS {
            return Err(SchemaFault::new(format!("has more than {MOST_PATTERNS} patterns"), "use fewer"));
        }
        Ok(())
    }

    fn target(&self, reference: &Value) -> Result<&'a Value, SchemaFault> {
        let text = reference.as_str().unwrap_or_default();
        let shown = bailiwick_types::shortened(text);
        let Some(pointer) = text.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            return Err(SchemaFault::new(
                format!("refers to `{shown}`, which is not within it"),
                "nothing is fetched; copy it below `$defs` and write \"#/$defs/NAME\"",
            ));
        };
        if pointer.contains('%') {
            return Err(SchemaFault::new(
                format!("refers to `{shown}`, which has a `%`"),
                "name the part by letters and digits",
            ));
        }
        self.root.pointer(pointer).ok_or_else(|| {
            SchemaFault::new(format!("refers to `{shown}`, which it does not have"), "add it below `$defs`")
        })
    }
}

/// The values that a schema holds beside its subschemas: each member of an `enum` is compared with each value.
fn own_values(fields: &Map<String, Value>) -> usize {
    let mut left: Vec<&Value> =
        fields.iter().filter(|(keyword, _)| !is_applied(keyword)).map(|(_, value)| value).collect();
    let mut count = 0;
    while let Some(value) = left.pop() {
        count += 1;
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(map) => left.extend(map.values()),
            _ => {}
        }
    }
    count
}

fn too_deep() -> SchemaFault {
    SchemaFault::new(format!("is nested more than {DEEPEST} deep, references followed"), "flatten it")
}
