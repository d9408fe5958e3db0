//! `docs/backends.md`: what every case of `specs/commands` comes to on every backend, from the files in `specs/backends`.
//!
//! The matrix of the tests runs each case and is red where these files are not what it saw; this only counts and writes down.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use toml::{Table, Value};

use crate::{Fault, disk};

/// The areas, in the order of the page, and what their cases are about.
const AREAS: [(&str, &str); 7] = [
    ("escape", "getting out: mounts, namespaces, other processes, devices, sockets, privileges, the kernel"),
    ("fs", "mounts: what may be one, and the ways out of one"),
    ("egress", "the network: what may be reached is, and nothing else by any way"),
    ("overlay", "what a command changes of a folder under an overlay, and what of it lands"),
    ("images", "images whose authors want out"),
    ("limits", "bombs, floods, deadlines, daemons, while the host goes on answering"),
    ("pool", "what one lease of a sandbox leaves to the next"),
];
/// The tiers, weakest first.
const TIERS: [&str; 4] = ["PROCESS", "CONTAINER", "USER_KERNEL", "MICRO_VM"];
/// The file of what is decided before a backend is asked.
const NONE: &str = "none.toml";

/// What the files say, and which cases there are.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    /// Every case, as `area/case`.
    cases: BTreeSet<String>,
    /// Those that are decided before a backend is asked.
    before: BTreeSet<String>,
    backends: Vec<Backend>,
}

#[derive(Debug)]
struct Backend {
    id: String,
    tier: String,
    about: String,
    exceptions: Vec<Exception>,
    /// Areas whose cases were never seen together as this file says.
    unseen: Vec<String>,
}

#[derive(Debug)]
struct Exception {
    /// As they are named; `area/*` is all of an area's that ask a backend and are not named elsewhere.
    named: Vec<String>,
    cases: Vec<String>,
    verdict: String,
    why: String,
}

/// The page.
pub(super) fn page() -> Result<String, Fault> {
    Ok(read(&disk::own_workspace().join("specs"))?.written())
}

pub(super) fn read(specs: &Path) -> Result<Matrix, Fault> {
    let mut matrix = Matrix::default();
    for (area, _) in AREAS {
        let names = disk::folders(&specs.join("commands").join(area))?;
        matrix.cases.extend(names.into_iter().map(|name| format!("{area}/{name}")));
    }
    let folder = specs.join("backends");
    for name in disk::files(&folder)? {
        let Some(id) = name.strip_suffix(".toml") else { continue };
        let wrong = |why: String| Fault::Verdicts { file: format!("specs/backends/{name}"), why };
        let table: Table =
            disk::text(&folder.join(&name))?.parse().map_err(|error| wrong(format!("{error}")))?;
        if name == NONE {
            matrix.before = texts(&table, "cases").into_iter().collect();
        } else {
            matrix.backends.push(backend(id, &table).map_err(wrong)?);
        }
    }
    let rank = |backend: &Backend| TIERS.iter().position(|tier| *tier == backend.tier);
    matrix.backends.sort_by(|one, other| (rank(one), &one.id).cmp(&(rank(other), &other.id)));
    matrix.name_each();
    matrix.check()?;
    Ok(matrix)
}

fn backend(id: &str, table: &Table) -> Result<Backend, String> {
    let (tier, about) = (text(table, "tier")?, text(table, "about")?);
    if !TIERS.contains(&tier.as_str()) {
        return Err(format!("`tier` is one of {}, not {tier}", TIERS.join(", ")));
    }
    let listed = table.get("except").and_then(Value::as_array).into_iter().flatten();
    let exceptions = listed.filter_map(Value::as_table).map(|one| {
        let named = texts(one, "cases");
        Ok(Exception { cases: named.clone(), named, verdict: text(one, "verdict")?, why: text(one, "why")? })
    });
    Ok(Backend {
        id: id.to_owned(),
        tier,
        about,
        exceptions: exceptions.collect::<Result<_, String>>()?,
        unseen: texts(table, "unseen"),
    })
}

pub(super) fn text(table: &Table, field: &str) -> Result<String, String> {
    table.get(field).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| format!("it lacks `{field}`"))
}

pub(super) fn texts(table: &Table, field: &str) -> Vec<String> {
    let items = table.get(field).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Matrix {
    /// The backends by name, the weakest first.
    pub(super) fn backends(&self) -> impl Iterator<Item = &str> {
        self.backends.iter().map(|backend| backend.id.as_str())
    }

    /// Whether there is a case of this name that asks a backend.
    pub(super) fn has(&self, case: &str) -> bool {
        self.cases.contains(case) && !self.before.contains(case)
    }

    /// Why a case does not hold on a backend, with the verdict; none where it holds.
    pub(super) fn exception(&self, backend: &str, case: &str) -> Option<String> {
        let backend = self.backends.iter().find(|one| one.id == backend)?;
        let named = |one: &&Exception| one.cases.iter().any(|name| name == case);
        backend
            .exceptions
            .iter()
            .find(named)
            .map(|Exception { verdict, why, .. }| format!("{verdict}: {why}"))
    }

    /// Names every case where all of an area are excepted.
    fn name_each(&mut self) {
        let (cases, before) = (&self.cases, &self.before);
        for Backend { exceptions, .. } in &mut self.backends {
            let named: BTreeSet<String> = exceptions.iter().flat_map(|one| one.named.clone()).collect();
            let others = || cases.difference(before).filter(|case| !named.contains(*case));
            for exception in exceptions {
                let each = exception.named.iter().flat_map(|name| match name.strip_suffix("/*") {
                    None => vec![name.clone()],
                    Some(area) => others().filter(|case| is_of(case, area)).cloned().collect(),
                });
                exception.cases = each.collect();
            }
        }
    }

    /// Every case that is named is one, and none is named twice.
    fn check(&self) -> Result<(), Fault> {
        for Backend { id, exceptions, .. } in &self.backends {
            let wrong = |why: String| Fault::Verdicts { file: format!("specs/backends/{id}.toml"), why };
            let mut named = BTreeSet::new();
            for name in exceptions.iter().flat_map(|exception| &exception.cases) {
                if !self.cases.contains(name) {
                    return Err(wrong(format!("there is no case `{name}`")));
                }
                if self.before.contains(name) {
                    return Err(wrong(format!("`{name}` is decided before a backend is asked")));
                }
                if !named.insert(name) {
                    return Err(wrong(format!("`{name}` is named twice")));
                }
            }
        }
        let stray = self.before.iter().find(|name| !self.cases.contains(*name));
        match stray {
            None => Ok(()),
            Some(name) => Err(Fault::Verdicts {
                file: format!("specs/backends/{NONE}"),
                why: format!("there is no case `{name}`"),
            }),
        }
    }

    fn written(&self) -> String {
        let mut page = format!(
            "{}# Backends\n\nThe same specs run on every backend. A spec is a folder of `specs/commands`: an attack, or something that has \
             to work. The tests run each of them on each backend and hold what they see to `specs/backends`: a case that is not \
             named there has to hold, one that is named has to fail and to say why, and a name that is not needed any more is an \
             error. A number here was seen; what was not says so.\n\n\
             What is decided before any backend is asked (a mount that is refused, an image that is not taken) holds without one. \
             It is counted apart, and for no backend.\n\n",
            super::NOTICE
        );
        let heads: Vec<String> = self.backends.iter().map(|one| format!("`{}`", one.id)).collect();
        let _ = writeln!(page, "| cases | | all | before a backend | {} |", heads.join(" | "));
        let _ = writeln!(page, "| --- | --- | ---: | ---: |{}", " --- |".repeat(heads.len()));
        for (area, about) in AREAS {
            let (all, before) = (count(&self.cases, area), count(&self.before, area));
            let cells: Vec<String> =
                self.backends.iter().map(|backend| backend.cell(area, all.saturating_sub(before))).collect();
            let _ = writeln!(page, "| `{area}` | {about} | {all} | {before} | {} |", cells.join(" | "));
        }
        for backend in &self.backends {
            backend.write(&mut page);
        }
        page
    }
}

fn count<'a>(names: impl IntoIterator<Item = &'a String>, area: &str) -> usize {
    names.into_iter().filter(|name| is_of(name, area)).count()
}

fn is_of(name: &str, area: &str) -> bool {
    name.strip_prefix(area).is_some_and(|rest| rest.starts_with('/'))
}

impl Backend {
    /// How many of an area's cases hold, and what the others come to.
    fn cell(&self, area: &str, asked: usize) -> String {
        if self.unseen.iter().any(|one| one == area) {
            return "not seen yet".to_owned();
        }
        let verdicts: BTreeSet<&str> = self.exceptions.iter().map(|one| one.verdict.as_str()).collect();
        let of = |verdict: &str| {
            let cases =
                self.exceptions.iter().filter(|one| one.verdict == verdict).flat_map(|one| &one.cases);
            count(cases, area)
        };
        let others: Vec<(usize, &str)> = verdicts
            .into_iter()
            .map(|verdict| (of(verdict), verdict))
            .filter(|(number, _)| *number > 0)
            .collect();
        let held = asked.saturating_sub(others.iter().map(|(number, _)| number).sum());
        let mut told = Vec::new();
        if held > 0 || others.is_empty() {
            told.push(format!("{held} hold"));
        }
        // `does not apply` of one, `do not apply` of several.
        told.extend(others.iter().map(|(number, verdict)| match number {
            1 => format!("1 {verdict}"),
            _ => format!("{number} {}", verdict.replacen("does", "do", 1)),
        }));
        told.join(", ")
    }

    fn write(&self, page: &mut String) {
        let Self { id, tier, about, exceptions, unseen } = self;
        let _ = writeln!(page, "\n## `{id}` ({tier})\n\n{about}\n");
        let all =
            if unseen.is_empty() { "Every case holds" } else { "Where cases were seen, every one holds" };
        if exceptions.is_empty() {
            let _ = writeln!(page, "{all}.");
            return;
        }
        let _ = writeln!(page, "{all} but these.\n\n| verdict | why | cases |\n| --- | --- | --- |");
        for Exception { named, verdict, why, .. } in exceptions {
            let named: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(page, "| {verdict} | {why} | {} |", named.join(", "));
        }
    }
}
