//! What one client was told is done, and what it cannot know: the one thing it had asked for when its owner died.

use std::collections::BTreeMap;

use super::chance::Chance;

/// What can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// Take this edition in; it is not published then.
    Import(u64),
    /// Take this edition in, pass it and publish it.
    Publish(u64),
    Unpublish,
    /// Call it, once for each of these correlations, all at once.
    Call(Vec<String>),
}

/// How a tool stands: its edition, and its state in the lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) edition: u64,
    pub(super) state: &'static str,
}

/// How often a change is on the record: at least, and at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least: usize,
    pub(super) most: usize,
}

/// What one client knows about its own tool, which nobody else changes.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) tool: &'static str,
    /// As it was told last; none before the tool was ever kept.
    pub(super) sure: Option<Standing>,
    /// As it may be besides.
    perhaps: Vec<Standing>,
    /// The last edition that was tried.
    last: u64,
    calls: u64,
    /// Correlations of calls, and whether their end was told.
    pub(super) called: BTreeMap<String, bool>,
    /// Changes that were asked for, and those that were told to be done.
    pub(super) tried: usize,
    pub(super) told: usize,
    /// By the action's name on the record.
    pub(super) changes: BTreeMap<&'static str, Bounds>,
}

impl Ledger {
    pub(super) const fn new(tool: &'static str) -> Self {
        Self {
            tool,
            sure: None,
            perhaps: Vec::new(),
            last: 0,
            calls: 0,
            called: BTreeMap::new(),
            tried: 0,
            told: 0,
            changes: BTreeMap::new(),
        }
    }

    /// What to ask for next. Only what must succeed is asked for.
    pub(super) fn wish(&mut self, chance: &mut Chance, calls_at_once: u64) -> Wish {
        let is_published = self.sure.is_some_and(|standing| standing.state == "PUBLISHED");
        match (is_published, chance.below(8)) {
            (true, 0) => Wish::Unpublish,
            (true, 1) | (false, 0) => Wish::Import(self.edition()),
            (true, 2) | (false, _) => Wish::Publish(self.edition()),
            (true, _) => Wish::Call((0..calls_at_once).map(|_| self.correlation()).collect()),
        }
    }

    /// What can be asked for however the tool stands.
    pub(super) const fn replaces(&mut self) -> Wish {
        Wish::Publish(self.edition())
    }

    const fn edition(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn correlation(&mut self) -> String {
        self.calls += 1;
        format!("{}-{}", self.tool, self.calls)
    }

    /// Something is about to be asked for: from now on it may be done.
    pub(super) fn begins(&mut self, wish: &Wish) {
        if let Wish::Call(correlations) = wish {
            self.called.extend(correlations.iter().map(|correlation| (correlation.clone(), false)));
        }
        if let Some(standing) = self.after(wish) {
            self.perhaps.push(standing);
            self.tried += 1;
        }
        for action in actions(wish) {
            self.changes.entry(action).or_default().most += 1;
        }
    }

    /// It was told that this is done.
    pub(super) fn done(&mut self, wish: &Wish) {
        if let Some(standing) = self.after(wish) {
            self.sure = Some(standing);
            self.told += 1;
            self.perhaps.clear();
        }
        for action in actions(wish) {
            self.changes.entry(action).or_default().least += 1;
        }
    }

    /// The end of one call was told.
    pub(super) fn call_done(&mut self, correlation: &str) {
        self.called.insert(correlation.to_owned(), true);
    }

    /// The tool was looked at: what may have been is now known.
    pub(super) fn settle(&mut self, found: Option<Standing>) {
        let Self { tool, sure, perhaps, .. } = self;
        let fits = found == *sure || found.is_some_and(|found| perhaps.contains(&found));
        assert!(fits, "{tool} is {found:?}, was told to be {sure:?}, may be {perhaps:?}");
        *sure = found;
        perhaps.clear();
    }

    fn after(&self, wish: &Wish) -> Option<Standing> {
        match wish {
            Wish::Import(edition) => Some(Standing { edition: *edition, state: "DRAFT" }),
            Wish::Publish(edition) => Some(Standing { edition: *edition, state: "PUBLISHED" }),
            Wish::Unpublish => self.sure.map(|standing| Standing { state: "READY", ..standing }),
            Wish::Call(_) => None,
        }
    }
}

/// The changes that a wish puts on the record.
const fn actions(wish: &Wish) -> &'static [&'static str] {
    match wish {
        Wish::Import(_) => &["tool.import"],
        Wish::Publish(_) => &["tool.import", "tool.test", "tool.publish"],
        Wish::Unpublish => &["tool.unpublish"],
        Wish::Call(_) => &[],
    }
}

/// The document of an edition: its code says which it is.
pub(super) fn document(tool: &str, edition: u64) -> String {
    format!(
        "name: {tool}\ndescription: Tells its edition.\ntests: [{{name: edition, input: {{}}, equals: \
         {edition}}}]\ncode: return {edition}\n"
    )
}
