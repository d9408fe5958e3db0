//! What was shown to whom: whoever takes changes takes what they have seen, and not what somebody else was shown meanwhile.

use bailiwick_types::KeyId;

use crate::Caller;

/// The most who are remembered. Whoever is forgotten has to look again.
const MOST: usize = 16;

/// Somebody who looks, by their credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Viewer {
    key: Option<KeyId>,
    name: Option<String>,
}

impl Viewer {
    /// Whoever asks.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { key: caller.key, name: caller.actor.key.clone() }
    }
}

/// What each of them was shown last.
#[derive(Debug)]
pub(crate) struct Looks<T> {
    /// The oldest look first.
    by: Vec<(Viewer, T)>,
    has_forgotten: bool,
}

impl<T> Default for Looks<T> {
    fn default() -> Self {
        Self { by: Vec::new(), has_forgotten: false }
    }
}

impl<T> Looks<T> {
    /// Somebody was shown this.
    pub(crate) fn remember(&mut self, viewer: Viewer, what: T) {
        self.by.retain(|(who, _)| *who != viewer);
        if self.by.len() >= MOST {
            self.by.remove(0);
            self.has_forgotten = true;
        }
        self.by.push((viewer, what));
    }

    /// What somebody was shown last.
    pub(crate) fn of(&self, viewer: &Viewer) -> Option<&T> {
        self.by.iter().find(|(who, _)| who == viewer).map(|(_, what)| what)
    }

    /// Whether somebody who looked is not known any more: then nobody who is unknown counts as one who never looked.
    pub(crate) const fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }
}

#[cfg(test)]
mod tests;
