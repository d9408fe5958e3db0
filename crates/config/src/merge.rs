//! Layers of settings: the later wins, and every value knows where it came from.

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_document::Place;
use bailiwick_policy::Profile;
use bailiwick_types::ProfileName;

use crate::keys::{KEYS, Key};
use crate::read::Sheet;
use crate::value::Value;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The documented default inside the program.
    BuiltIn,
    /// A file, at a line.
    File {
        /// The file.
        path: Arc<str>,
        /// Where in it.
        place: Option<Place>,
    },
    /// An environment variable.
    Variable(String),
    /// `--set` on the command line.
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File { path, place: Some(place) } => write!(f, "{path}:{}", place.line),
            Self::File { path, place: None } => f.write_str(path),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag => f.write_str("--set"),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// All settings in force.
#[derive(Debug, Clone, Default)]
pub struct Config {
    pub(crate) settings: BTreeMap<&'static str, Setting>,
    pub(crate) profiles: BTreeMap<ProfileName, (Profile, Origin)>,
}

impl Config {
    /// One setting by its path.
    pub fn get(&self, path: &str) -> Option<&Setting> {
        self.settings.get(path)
    }

    /// Every key with its setting, in the order of the documented file.
    pub fn entries(&self) -> impl Iterator<Item = (&'static Key, &Setting)> {
        KEYS.iter().filter_map(|key| self.settings.get(key.path.as_str()).map(|setting| (key, setting)))
    }

    /// The profiles on offer, with where each came from.
    pub fn profiles(&self) -> impl Iterator<Item = (&ProfileName, &Profile, &Origin)> {
        self.profiles.iter().map(|(name, (profile, origin))| (name, profile, origin))
    }

    pub(crate) fn set(&mut self, key: &'static Key, value: Value, origin: Origin) {
        self.settings.insert(key.path.as_str(), Setting { value, origin });
    }

    /// Lays a sheet on top: its values replace what is there.
    pub(crate) fn apply(&mut self, sheet: Sheet, origin: impl Fn(Option<Place>) -> Origin) {
        let Sheet { document: _, values, profiles } = sheet;
        for (key, value, place) in values {
            self.set(key, value, origin(place));
        }
        for (name, profile, place) in profiles {
            self.profiles.insert(name, (profile, origin(Some(place))));
        }
    }
}
