//! Which elements a selector selects, in one walk: at each element, every step of the selector is looked at once.
//!
//! An element's fitting steps are bits. A step asks for a bit of the parent, of any ancestor, of the sibling before or
//! of any before; those are at hand, so nothing is tried twice and no selector takes more than elements times steps.

use std::collections::BTreeMap;

use html5ever::{LocalName, ns};

use super::selector::{Combinator, How, Selector, Simple};
use super::tree::{Data, Element, NodeId, Step, Tree};

/// Steps that fit, by number.
type Bits = u128;

/// What is known while the children of a node are looked at.
#[derive(Default)]
struct Level {
    /// What fits the parent.
    parent: Bits,
    /// What fits any ancestor, the parent among them.
    ancestors: Bits,
    /// What fits the sibling before.
    previous: Bits,
    /// What fits any sibling before.
    earlier: Bits,
    seen: u32,
    total: u32,
    seen_of: BTreeMap<LocalName, u32>,
    total_of: BTreeMap<LocalName, u32>,
}

/// The elements that fit, in order, at most so many.
pub(super) fn select(tree: &Tree, selector: &Selector, limit: usize) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    for step in tree.walk(Tree::DOCUMENT) {
        match step {
            Step::Enter(id) => {
                let Some(element) = tree.element(id) else {
                    if id == Tree::DOCUMENT {
                        levels.push(level(tree, id, selector, 0, 0));
                    }
                    continue;
                };
                let Some(above) = levels.last_mut() else { break };
                above.seen += 1;
                if selector.counts_names {
                    *above.seen_of.entry(element.name.local.clone()).or_default() += 1;
                }
                let fits = fitting(tree, id, element, selector, above);
                above.previous = fits;
                above.earlier |= fits;
                let ancestors = above.ancestors | fits;
                levels.push(level(tree, id, selector, fits, ancestors));
                if selector.ends.iter().any(|end| fits & bit(*end) != 0) {
                    found.push(id);
                    if found.len() >= limit {
                        break;
                    }
                }
            }
            Step::Leave(id) => {
                if tree.element(id).is_some() {
                    levels.pop();
                }
            }
        }
    }
    found
}

fn level(tree: &Tree, id: NodeId, selector: &Selector, parent: Bits, ancestors: Bits) -> Level {
    let mut level = Level { parent, ancestors, ..Level::default() };
    if selector.counts_from_last {
        for element in tree.children(id).filter_map(|child| tree.element(child)) {
            level.total += 1;
            if selector.counts_names {
                *level.total_of.entry(element.name.local.clone()).or_default() += 1;
            }
        }
    }
    level
}

fn bit(step: usize) -> Bits {
    u32::try_from(step).ok().and_then(|step| Bits::checked_shl(1, step)).unwrap_or(0)
}

fn fitting(tree: &Tree, id: NodeId, element: &Element, selector: &Selector, level: &Level) -> Bits {
    let mut fits: Bits = 0;
    let of = |table: &BTreeMap<LocalName, u32>| table.get(&element.name.local).copied().unwrap_or(0);
    let among = Among {
        all: (level.seen, level.total),
        same_name: if selector.counts_names { (of(&level.seen_of), of(&level.total_of)) } else { (0, 0) },
    };
    for (number, step) in selector.steps.iter().enumerate() {
        let placed = match step.behind {
            None => true,
            Some((combinator, before)) => {
                let there = match combinator {
                    Combinator::Descendant => level.ancestors,
                    Combinator::Child => level.parent,
                    Combinator::NextSibling => level.previous,
                    Combinator::LaterSibling => level.earlier,
                };
                there & bit(before) != 0
            }
        };
        if placed && step.conditions.iter().all(|condition| holds(tree, id, element, condition, fits, among))
        {
            fits |= bit(number);
        }
    }
    fits
}

/// Which of its siblings an element is, and of how many.
#[derive(Clone, Copy)]
struct Among {
    all: (u32, u32),
    same_name: (u32, u32),
}

fn holds(tree: &Tree, id: NodeId, element: &Element, condition: &Simple, fits: Bits, among: Among) -> bool {
    match condition {
        Simple::Tag(name, lower) => {
            let wanted = if element.name.ns == ns!(html) { lower } else { name };
            element.tag() == wanted
        }
        Simple::Id(wanted) => element.attribute("id") == Some(wanted),
        Simple::Class(wanted) => has_word(element.attribute("class").unwrap_or_default(), wanted, false),
        Simple::Attribute { name, lower, how, value, any_case } => {
            let wanted = if element.name.ns == ns!(html) { lower } else { name };
            element.attribute(wanted).is_some_and(|there| compares(there, *how, value, *any_case))
        }
        Simple::Is(ends) => ends.iter().any(|end| fits & bit(*end) != 0),
        Simple::Not(ends) => ends.iter().all(|end| fits & bit(*end) == 0),
        Simple::Nth { a, b, from_last, same_name } => {
            let (seen, total) = if *same_name { among.same_name } else { among.all };
            let place = if *from_last { (total + 1).saturating_sub(seen) } else { seen };
            is_nth(i64::from(place), i64::from(*a), i64::from(*b))
        }
        Simple::Empty => tree.children(id).all(|child| match tree.node(child).map(|node| &node.data) {
            Some(Data::Text(text)) => text.is_empty(),
            Some(Data::Element(_)) => false,
            _ => true,
        }),
        Simple::Root => tree.parent(id) == Some(Tree::DOCUMENT),
    }
}

fn is_nth(place: i64, a: i64, b: i64) -> bool {
    let rest = place - b;
    if a == 0 { rest == 0 } else { rest % a == 0 && rest / a >= 0 }
}

fn compares(there: &str, how: How, value: &str, any_case: bool) -> bool {
    if any_case && !matches!(how, How::Present | How::HasWord) {
        return compares(&there.to_ascii_lowercase(), how, &value.to_ascii_lowercase(), false);
    }
    match how {
        How::Present => true,
        How::Equals => there == value,
        How::HasWord => has_word(there, value, any_case),
        How::IsOrBeginsWithDash => {
            there.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        How::BeginsWith => !value.is_empty() && there.starts_with(value),
        How::EndsWith => !value.is_empty() && there.ends_with(value),
        How::Contains => !value.is_empty() && there.contains(value),
    }
}

fn has_word(text: &str, wanted: &str, any_case: bool) -> bool {
    text.split_ascii_whitespace()
        .any(|word| if any_case { word.eq_ignore_ascii_case(wanted) } else { word == wanted })
}
