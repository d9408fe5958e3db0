//! `docs/limits.md`: what each limit bounds on each backend, by what, and which attacks showed it, from `specs/limits.toml` and the
//! verdicts of `specs/backends`.
//!
//! An attack goes to 90 % of a limit and has to go through, or to 110 % and has to be stopped. A limit, a backend or an attack that is
//! missing is an error, so that the page has no gaps.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;

use toml::{Table, Value};

use super::backends::{self, Matrix, text, texts};
use crate::{Fault, disk};

/// The file that the page is made from.
const FILE: &str = "limits.toml";
/// Every limit of a sandbox, as flags and keys spell it.
const LIMITS: [&str; 6] = ["memory", "disk", "cpu", "processes", "timeout", "output"];
/// The backend whose attacks are programs in WebAssembly, in a directory of their own.
const WASM: &str = "wasm";

/// One limit.
#[derive(Debug)]
struct Limit {
    name: String,
    bounds: String,
    /// For each backend: its name, and what holds the limit there.
    by: Vec<(String, String)>,
    /// Attacks that have to go through, and attacks that have to be stopped.
    commands: Attacks,
    /// The same for programs in WebAssembly, or why there is nothing to attack.
    wasm: Result<Attacks, String>,
}

/// Cases by what they try.
#[derive(Debug)]
struct Attacks {
    within: Vec<String>,
    beyond: Vec<String>,
}

/// The page.
pub(super) fn page() -> Result<String, Fault> {
    let specs = disk::own_workspace().join("specs");
    let (matrix, limits) = read(&specs)?;
    Ok(written(&matrix, &limits))
}

fn wrong(why: String) -> Fault {
    Fault::Verdicts { file: format!("specs/{FILE}"), why }
}

fn read(specs: &Path) -> Result<(Matrix, Vec<Limit>), Fault> {
    let matrix = backends::read(specs)?;
    let table: Table = disk::text(&specs.join(FILE))?.parse().map_err(|error| wrong(format!("{error}")))?;
    if let Some(stray) = table.keys().find(|name| !LIMITS.contains(&name.as_str())) {
        return Err(wrong(format!("`{stray}` is not a limit")));
    }
    let programs: Vec<String> = disk::folders(&specs.join("wasm/limits"))?;
    let read_one = |name: &str| {
        let one = table.get(name).and_then(Value::as_table).ok_or_else(|| format!("it lacks `{name}`"))?;
        limit(name, one, &matrix, &programs).map_err(|why| format!("`{name}`: {why}"))
    };
    let limits = LIMITS.into_iter().map(read_one).collect::<Result<_, String>>().map_err(wrong)?;
    Ok((matrix, limits))
}

fn limit(name: &str, table: &Table, matrix: &Matrix, programs: &[String]) -> Result<Limit, String> {
    let held = table.get("by").and_then(Value::as_table).ok_or("it lacks `by`")?;
    if let Some(stray) = held.keys().find(|name| !matrix.backends().any(|backend| backend == name.as_str())) {
        return Err(format!("there is no backend `{stray}`"));
    }
    let by = matrix.backends().map(|backend| Ok((backend.to_owned(), text(held, backend)?)));
    let attacks = |within: &str, beyond: &str, exists: &dyn Fn(&str) -> bool| {
        let attacks = Attacks { within: texts(table, within), beyond: texts(table, beyond) };
        let mut all = attacks.within.iter().chain(&attacks.beyond);
        if let Some(case) = all.find(|case| !exists(case)) {
            return Err(format!("there is no case `{case}`"));
        }
        let lists = [(within, &attacks.within), (beyond, &attacks.beyond)];
        if let Some((field, _)) = lists.into_iter().find(|(_, list)| list.is_empty()) {
            return Err(format!("it has no attack in `{field}`"));
        }
        Ok(attacks)
    };
    Ok(Limit {
        name: name.to_owned(),
        bounds: text(table, "bounds")?,
        by: by.collect::<Result<_, String>>()?,
        commands: attacks("within", "beyond", &|case| matrix.has(case))?,
        wasm: match text(table, "wasmNone") {
            Ok(why) => Err(why),
            Err(_) => Ok(attacks("wasmWithin", "wasmBeyond", &|case| {
                programs.iter().any(|name| format!("limits/{name}") == case)
            })?),
        },
    })
}

fn written(matrix: &Matrix, limits: &[Limit]) -> String {
    let mut page = format!(
        "{}# Limits\n\nWhat each limit bounds on each backend, by what, and which attacks showed it. An attack that goes to 90 % of a \
         limit has to go through; one that goes to 110 % has to be stopped. The attacks are folders of `specs/commands`, which the \
         tests run on each backend as root; those of `wasm` are folders of `specs/wasm`. Each verdict is the one that the tests hold \
         the backend to ([backends.md](backends.md)). Each receipt names the numbers of its sandbox.\n",
        super::NOTICE
    );
    for Limit { name, bounds, by, commands, wasm } in limits {
        let _ = writeln!(page, "\n## `--{name}`\n\n{bounds}\n");
        let _ = writeln!(
            page,
            "| backend | held by | 90 % goes through | 110 % is stopped |\n| --- | --- | --- | --- |"
        );
        for (backend, held) in by {
            let cell = |cases: &[String]| {
                let told = cases.iter().map(|case| verdict(matrix, backend, case));
                told.collect::<Vec<_>>().join("; ")
            };
            let attacks = if backend == WASM { wasm.as_ref() } else { Ok(commands) };
            let (within, beyond) = match attacks {
                Ok(attacks) => (cell(&attacks.within), cell(&attacks.beyond)),
                Err(why) => (why.clone(), why.clone()),
            };
            let _ = writeln!(page, "| `{backend}` | {held} | {within} | {beyond} |");
        }
    }
    page
}

/// What a case came to.
fn verdict(matrix: &Matrix, backend: &str, case: &str) -> String {
    let found = if backend == WASM { None } else { matrix.exception(backend, case) };
    match found {
        None => format!("`{case}` yes"),
        Some(why) => format!("`{case}` {why}"),
    }
}
