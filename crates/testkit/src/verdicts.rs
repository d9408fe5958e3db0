//! `specs/backends/<backend>.toml`: what the cases of `specs/commands` come to on a backend.
//!
//! A case holds unless the file excepts it. An exception names its cases as `area/case`, or as `area/*` all that ask a backend
//! and are not named elsewhere; a verdict, why, and texts that the failing case says: so a case that fails for another reason is not covered by it. That its
//! `check.sh` fails has to be one of them. Every excepted case is run all the same, and one that holds after all is wrong. `specs/backends/none.toml` is the list for no backend at all: what holds there is
//! decided before a backend is asked, and says nothing about one.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use bailiwick_document::{Bounds, DocPath, Entry, Format, Reader, Record, parse};

/// Verdicts on a case that does not hold, as they are written.
pub const VERDICTS: [&str; 2] = ["does not apply", "does not hold"];

/// What the cases come to on one backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Where they were read.
    file: String,
    /// Errnos that are the word of this backend's wall wherever one is: that of a kernel for a call that it does not have.
    pub words: Vec<String>,
    /// The cases that `make test` runs on this backend, as `area/case`; all of them where the file has no such list.
    quick: Option<Vec<String>>,
    exceptions: BTreeMap<String, Exception>,
}

/// A case that is not expected to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Exception {
    says: Vec<String>,
}

/// What stands for all cases of an area.
const ALL: &str = "/*";

/// How a report tells that a look at the host afterwards failed.
const CHECK: &str = "check.sh:";

impl Exception {
    /// Whether this is the failure that is meant: it says everything, and the host is only found changed where that is said.
    fn covers(&self, wrong: &str) -> bool {
        let is_checked = wrong.lines().any(|line| line.starts_with(CHECK));
        self.says.iter().all(|text| wrong.contains(text.as_str()))
            && (!is_checked || self.says.iter().any(|text| text == CHECK))
    }
}

impl Verdicts {
    /// Reads the verdicts on a backend.
    ///
    /// # Panics
    /// When the file cannot be read, or says something else than verdicts.
    #[expect(clippy::panic, reason = "a suite that cannot be read ends its test")]
    pub fn read(specs: &Path, backend: &str) -> Self {
        let path = specs.join("backends").join(backend).with_extension("toml");
        let verdicts = Self::of(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
        let verdicts = verdicts.each_named(specs);
        for name in verdicts.exceptions.keys().chain(verdicts.quick.iter().flatten()) {
            let case = specs.join("commands").join(name);
            assert!(case.is_dir(), "{}: there is no case `{name}`", verdicts.file);
        }
        verdicts
    }

    /// With every case of an area by its name, where all of them are excepted.
    #[expect(clippy::panic, reason = "a suite that cannot be read ends its test")]
    fn each_named(mut self, specs: &Path) -> Self {
        let hollow = Hollow::read(specs);
        let whole: Vec<(String, Exception)> =
            self.exceptions.extract_if(.., |name, _| name.ends_with(ALL)).collect();
        for (name, exception) in whole {
            let area = name.trim_end_matches(ALL);
            let Ok(cases) = std::fs::read_dir(specs.join("commands").join(area)) else {
                panic!("{}: there is no area `{area}`", self.file)
            };
            let cases =
                cases.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
            for case in cases.filter(|case| !hollow.of(area).any(|one| one == case)) {
                self.exceptions.entry(format!("{area}/{case}")).or_insert_with(|| exception.clone());
            }
        }
        self
    }

    #[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
    fn of(path: &Path) -> Result<Self, String> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
        Self::parse(&file, &text)
    }

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        let tree = parse(file, text, Format::Toml, Bounds::WRITTEN_BY_HAND)
            .map_err(|problems| problems.to_string())?;
        let mut reader = Reader::new(file);
        let root = Entry { node: &tree, path: DocPath::root() };
        let mut record = reader.record(&root).ok_or("it is not a table")?;
        let mut verdicts = Self { file: file.to_owned(), ..Self::default() };
        verdicts.words = texts(&mut reader, &mut record, "words");
        verdicts.quick = Some(texts(&mut reader, &mut record, "quick")).filter(|cases| !cases.is_empty());
        // What was not seen yet is not told to hold there.
        let _unseen = texts(&mut reader, &mut record, "unseen");
        for field in ["tier", "about"] {
            // For `docs/backends.md`.
            if record.take(field).and_then(|entry| reader.text(&entry)).is_none() {
                return Err(format!("{file} lacks `{field}`"));
            }
        }
        let listed = record.take("except").map(|entry| reader.list(&entry)).unwrap_or_default();
        for entry in listed {
            let Some(mut one) = reader.record(&entry) else { continue };
            let cases = texts(&mut reader, &mut one, "cases");
            let mut word = |field: &'static str| {
                let text = one.take(field).and_then(|entry| reader.text(&entry).map(str::to_owned));
                text.filter(|text| !text.is_empty()).ok_or(format!("{file}: {cases:?} lacks `{field}`"))
            };
            let (verdict, _why) = (word("verdict")?, word("why")?);
            let says = texts(&mut reader, &mut one, "says");
            if says.is_empty() {
                return Err(format!("{file}: {cases:?} lacks `says`"));
            }
            if !VERDICTS.contains(&verdict.as_str()) {
                return Err(format!("{file}: a verdict is one of {}, not {verdict}", VERDICTS.join(", ")));
            }
            one.close(&mut reader);
            for name in cases {
                let told = Exception { says: says.clone() };
                if verdicts.exceptions.insert(name.clone(), told).is_some() {
                    return Err(format!("{file}: `{name}` is excepted twice"));
                }
            }
        }
        record.close(&mut reader);
        reader.finish(verdicts).map_err(|problems| problems.to_string())
    }

    /// Compares what was wrong with a case, if anything, with what is expected of it.
    ///
    /// # Errors
    /// What is not as expected.
    pub fn judge(&self, area: &str, case: &str, result: Result<(), String>) -> Result<(), String> {
        match (self.exceptions.get(&format!("{area}/{case}")), result) {
            (None, result) => result,
            (Some(_), Ok(())) => Err(format!("it holds; take it out of {}", self.file)),
            (Some(exception), Err(wrong)) if exception.covers(&wrong) => Ok(()),
            (Some(Exception { says }), Err(wrong)) => {
                Err(format!("it fails otherwise than by {says:?}: {wrong}"))
            }
        }
    }

    /// The cases of an area that `make test` runs on this backend; `None`: all of them.
    pub fn quick(&self, area: &str) -> Option<Vec<String>> {
        let of_area = |name: &String| name.strip_prefix(area)?.strip_prefix('/').map(str::to_owned);
        self.quick.as_ref().map(|quick| quick.iter().filter_map(of_area).collect())
    }
}

/// The cases that are decided before any backend is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hollow {
    file: String,
    cases: Vec<String>,
}

impl Hollow {
    /// Reads them.
    ///
    /// # Panics
    /// When the file cannot be read, or says something else.
    #[expect(clippy::panic, reason = "a suite that cannot be read ends its test")]
    #[expect(clippy::disallowed_methods, reason = "files of the repository, read by its tests")]
    pub fn read(specs: &Path) -> Self {
        let path = specs.join("backends/none.toml");
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let hollow = Self::parse(&file, &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        for name in &hollow.cases {
            assert!(specs.join("commands").join(name).is_dir(), "{file}: there is no case `{name}`");
        }
        hollow
    }

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        let tree = parse(file, text, Format::Toml, Bounds::WRITTEN_BY_HAND)
            .map_err(|problems| problems.to_string())?;
        let mut reader = Reader::new(file);
        let root = Entry { node: &tree, path: DocPath::root() };
        let mut record = reader.record(&root).ok_or("it is not a table")?;
        let cases = texts(&mut reader, &mut record, "cases");
        record.close(&mut reader);
        reader.finish(Self { file: file.to_owned(), cases }).map_err(|problems| problems.to_string())
    }

    /// Its cases of an area, by their names there.
    pub fn of<'a>(&'a self, area: &'a str) -> impl Iterator<Item = &'a str> {
        self.cases.iter().filter_map(move |name| name.strip_prefix(area)?.strip_prefix('/'))
    }

    /// Compares what was wrong with a case, if anything, with what is expected of it where there is no backend.
    ///
    /// # Errors
    /// What is not as expected.
    pub fn judge(&self, area: &str, case: &str, result: Result<(), String>) -> Result<(), String> {
        let is_listed = self.of(area).any(|one| one == case);
        match (is_listed, result) {
            (true, Ok(())) | (false, Err(_)) => Ok(()),
            (false, Ok(())) => Err(format!("it holds without a backend; name it in {}", self.file)),
            (true, Err(wrong)) => Err(format!("it needs a backend: {wrong}")),
        }
    }
}

fn texts(reader: &mut Reader, record: &mut Record<'_>, field: &'static str) -> Vec<String> {
    let items = record.take(field).map(|entry| reader.list(&entry)).unwrap_or_default();
    items.iter().filter_map(|item| reader.text(item)).map(str::to_owned).collect()
}
