//! The matrix: every case of `specs/commands` on every backend of its rows, as root and where that means something as an ordinary user.
//!
//! A backend is one line of [`ROWS`], and its file in `specs/backends`, which names the cases that are not expected to hold
//! there. What holds where there is no backend at all is decided before one is asked: it is run there once for each user, and
//! not again on every backend. `docs/backends.md` is made from the same files.

use std::path::Path;

use bailiwick_testkit::{Backing, Group, Hollow, Specs, Verdicts, has, tests};

use crate::commands_network::{Stage, has_world};
use crate::hollow::{commands, has_python};
use crate::network::world;
use crate::{bailiwick, specs};

/// Who runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Root,
    Nobody,
}

/// A backend, and who uses it.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Its name; none for no backend at all.
    backend: Option<&'static str>,
    by: By,
}

/// The areas that are run by starting the program, and how many cases there are at least.
const AREAS: [(&str, usize); 6] =
    [("escape", 60), ("fs", 15), ("egress", 40), ("overlay", 10), ("images", 35), ("limits", 10)];

/// Every backend, and who uses it.
const ROWS: [(&str, Row); 10] = [
    ("no_backend", Row { backend: None, by: By::Root }),
    ("no_backend_by_nobody", Row { backend: None, by: By::Nobody }),
    ("process", Row { backend: Some("process"), by: By::Root }),
    ("process_by_nobody", Row { backend: Some("process"), by: By::Nobody }),
    ("container", Row { backend: Some("container"), by: By::Root }),
    ("podman", Row { backend: Some("podman"), by: By::Root }),
    ("gvisor", Row { backend: Some("gvisor"), by: By::Root }),
    ("wasm", Row { backend: Some("wasm"), by: By::Root }),
    ("microvm", Row { backend: Some("microvm"), by: By::Root }),
    ("remote", Row { backend: Some("remote"), by: By::Root }),
];

/// Cases of an area on a row, with what they need.
struct Prepared {
    row: Row,
    area: &'static str,
    cases: Specs,
    stage: Option<Stage>,
    _backing: Backing,
}

impl bailiwick_testkit::Prepared for Prepared {
    fn check(&self, case: &str) -> Result<(), String> {
        self.row.judge(self.area, case, self.cases.run_case(case))
    }

    /// Nothing of the network's cases told the world what it may not hear, and git reached its servers.
    fn finish(&self, is_whole: bool) -> Result<(), String> {
        let Some(stage) = &self.stage else { return Ok(()) };
        let leaks = stage.leaks();
        let unheard = if is_whole && self.row.speaks_git() { stage.unheard() } else { Vec::new() };
        if leaks.is_empty() && unheard.is_empty() {
            return Ok(());
        }
        Err(format!("leaked: {leaks:?}; did not arrive: {unheard:?}"))
    }
}

pub(crate) fn groups() -> Vec<Group> {
    let areas = |(name, row)| AREAS.map(|(area, _)| Row::group(row, name, area));
    ROWS.into_iter().flat_map(areas).collect()
}

tests!(no_area_has_lost_its_cases);

fn no_area_has_lost_its_cases() {
    for (area, least) in AREAS {
        let found = commands(bailiwick(), area).cases().len();
        assert!(found >= least, "only {found} cases of {area} were found");
    }
}

impl Row {
    /// The backend, where this machine has what the row needs. A server that is needed has these settings.
    fn backing(self, settings: &str) -> Option<Backing> {
        let is_root = rustix::process::geteuid().is_root();
        let nobody = self.by == By::Root || has("root", is_root && Path::new("/usr/bin/setpriv").exists());
        (has_python() && nobody).then(|| Backing::of(bailiwick(), self.backend, settings)).flatten()
    }

    /// Cases as this row runs them.
    fn cases(self, backing: &Backing, cases: Specs) -> Specs {
        let variables = backing.variables.iter();
        let cases = variables.fold(cases, |cases, (name, value)| cases.variable(name, value));
        let cases = match self.backend {
            None => cases,
            Some(backend) => {
                let words = Verdicts::read(&specs(""), backend).words.join("|");
                cases.also(&format!("ALSO = \"{words}\"\n"))
            }
        };
        // A machine that is emulated is an order of magnitude slower; and a kernel in user space is slow with many processes.
        let cases = match self.backend {
            Some("microvm") => cases.patient(5),
            Some("gvisor") => cases.patient(3),
            _ => cases,
        };
        self.by_user(cases)
    }

    fn by_user(self, cases: Specs) -> Specs {
        match self.by {
            By::Root => cases,
            By::Nobody => cases.by_nobody(),
        }
    }

    /// Whether git of the cases comes to a server: it runs, and has whom to believe by a mount.
    fn speaks_git(self) -> bool {
        self.backend.is_some_and(|backend| !matches!(backend, "wasm" | "remote"))
    }

    /// Compares a result with what the files of `specs/backends` expect.
    fn judge(self, area: &str, case: &str, result: Result<(), String>) -> Result<(), String> {
        match self.backend {
            None => Hollow::read(&specs("")).judge(area, case, result),
            Some(backend) => Verdicts::read(&specs(""), backend).judge(area, case, result),
        }
    }

    /// The cases of an area on this row. What is decided before a backend is asked runs in the rows without one only.
    fn group(self, name: &str, area: &'static str) -> Group {
        let area_of_user = self.by_user(commands(bailiwick(), area));
        let (mut cases, watched) = (area_of_user.cases(), area_of_user.watched_cases());
        // What no backend decides is decided in the same way for every user: `make test` runs it as root only.
        let mut quick = (self.by == By::Nobody).then(Vec::new);
        if let Some(backend) = self.backend {
            let decided = Hollow::read(&specs(""));
            cases.retain(|case| !decided.of(area).any(|one| one == case));
            quick = Verdicts::read(&specs(""), backend).quick(area);
        }
        let group =
            Group::new(format!("matrix::{name}::{area}"), cases, move || self.prepare(area)).quick(quick);
        match area {
            "egress" => group.within(world()).finished(),
            _ => group.one_at_a_time(watched),
        }
    }

    fn prepare(self, area: &'static str) -> Option<Prepared> {
        let stage = if area == "egress" { Some(has_world().then(Stage::new)?) } else { None };
        let settings = stage.as_ref().map(Stage::settings).unwrap_or_default();
        let backing = self.backing(&settings)?;
        let cases = match &stage {
            Some(stage) => stage.cases(bailiwick()),
            None => commands(bailiwick(), area),
        };
        let cases = self.cases(&backing, cases);
        Some(Prepared { row: self, area, cases, stage, _backing: backing })
    }
}
